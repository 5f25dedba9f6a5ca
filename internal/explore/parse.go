package explore

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
)

// parseReplay reads a replay file.
func parseReplay(text []byte) (*script, error) {
	p := &parser{script: &script{}}
	for number, raw := range bytes.Split(text, []byte("\n")) {
		if err := p.line(strings.TrimRight(string(raw), "\r")); err != nil {
			return &script{}, fmt.Errorf("replay: line %d: %w", number+1, err)
		}
	}
	if err := p.end(); err != nil {
		return &script{}, fmt.Errorf("replay: %w", err)
	}
	return p.script, nil
}

// A parser is the state of reading a replay file.
type parser struct {
	script *script
	begun  bool            // the first line was read
	fields map[string]bool // seen
	steps  bool            // the header is over
}

func (p *parser) line(text string) error {
	words := strings.Fields(text)
	switch {
	case strings.HasPrefix(text, "#"):
		return nil
	case !p.begun && text == replayMagic:
		p.begun, p.fields = true, map[string]bool{}
		return nil
	case !p.begun && text == "lockbench replay 1":
		return fmt.Errorf("%q is a version that this lockbench does not read, it reads %q; hint: lockbench of commit 3ca9b9fc, before 0.1.0, reads it", text, replayMagic)
	case len(words) == 0:
		p.steps = p.steps || len(p.fields) > 0
		return nil
	case !p.begun:
		return fmt.Errorf("%q; hint: a replay file begins with %q", clip(text), replayMagic)
	case !p.steps:
		name, value, _ := strings.Cut(strings.TrimSpace(text), " ")
		return p.field(name, strings.TrimSpace(value))
	}
	return p.step(text, words)
}

func (p *parser) end() error {
	if !p.begun {
		return fmt.Errorf("it is empty; hint: a replay file begins with %q", replayMagic)
	}
	for name := range headerFields {
		if optional := name == "breaks" || name == "definition" || name == "guard" || name == "retries"; !p.fields[name] && !optional {
			return fmt.Errorf("the header has no %q; hint: fields are %s", name, strings.Join(fieldNames(), ", "))
		}
	}
	return nil
}

// headerFields reads the value of each field of the header.
var headerFields = map[string]func(*script, string) error{
	"design":     func(s *script, v string) error { s.cfg.Design.Name = v; return nil },
	"definition": func(s *script, v string) error { s.cfg.Design.Definition = v; return nil },
	"scenario":   func(s *script, v string) error { s.cfg.Scenario = v; return nil },
	"clients":    func(s *script, v string) error { return number(&s.cfg.Clients, v, 1, maxClients) },
	"threads":    func(s *script, v string) error { return number(&s.cfg.Threads, v, 1, maxClients) },
	"pool":       func(s *script, v string) error { return number(&s.cfg.Pool, v, 0, maxPool) },
	"retries":    func(s *script, v string) error { return number(&s.cfg.Retries, v, 0, maxRetries) },
	"rounds":     func(s *script, v string) error { return number(&s.cfg.Rounds, v, 1, maxRounds) },
	"ttl":        func(s *script, v string) error { return length(&s.cfg.TTL, v) },
	"wait":       func(s *script, v string) error { return length(&s.cfg.Wait, v) },
	"skew":       func(s *script, v string) error { return length(&s.cfg.Skew, v) },
	"breaks":     func(s *script, v string) error { return s.breaking(v) },
	"guard":      func(s *script, v string) error { s.cfg.Guard = lockbench.Guard(v); return nil },
	"seed": func(s *script, v string) (err error) {
		s.cfg.Seed, err = strconv.ParseUint(v, 10, 64)
		return reason(err)
	},
}

func fieldNames() (names []string) {
	for name := range headerFields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (p *parser) field(name, value string) error {
	read, known := headerFields[name]
	switch {
	case !known:
		return fmt.Errorf("no field is called %q; hint: fields are %s, and an empty line ends them", clip(name), strings.Join(fieldNames(), ", "))
	case p.fields[name]:
		return fmt.Errorf("%s is there twice", name)
	case value == "":
		return fmt.Errorf("%s has no value", name)
	}
	p.fields[name] = true
	if err := read(p.script, value); err != nil {
		return fmt.Errorf("%s %q: %w", name, clip(value), err)
	}
	return nil
}

// breaking reads the result of the schedule: a cell and a verdict.
func (s *script) breaking(value string) error {
	words := strings.Fields(value)
	cell, err := lockbench.ParseCell(clip(words[0]))
	if err != nil {
		return err
	}
	s.breaks = checker.CellFinding{Cell: cell, Finding: checker.Finding{Verdict: checker.Broken}}
	switch len(words) {
	case 1:
		return nil
	case 2:
		return s.breaks.Verdict.UnmarshalText([]byte(clip(words[1])))
	}
	return errors.New("more than a cell and a verdict; hint: such as exclusion@crash broken")
}

// step reads one step: the actor, the verb, and the command.
func (p *parser) step(text string, words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("%q; hint: a step says who acts, what is done and to what, as in %q", clip(text), "c1 run SET job 1")
	}
	v := slices.Index(strategy.VerbNames(), words[1])
	if v < 0 {
		return fmt.Errorf("%q is nothing that can be done; hint: one of %s", clip(words[1]), strings.Join(strategy.VerbNames(), ", "))
	}
	l := line{actor: words[0], verb: strategy.Verb(v)}
	_, what, _ := strings.Cut(strings.TrimSpace(text), words[1])
	l.what = strings.TrimSpace(what)
	l.choice.Verb = l.verb
	if err := p.actorOf(&l); err != nil {
		return err
	}
	if l.verb.Timed() {
		at, err := time.ParseDuration(l.what)
		if err != nil {
			return fmt.Errorf("time %q: %w", clip(l.what), reason(err))
		}
		l.choice.At = at
	}
	p.script.lines = append(p.script.lines, l)
	return nil
}

// actorOf finds the actor of a step by name.
func (p *parser) actorOf(l *line) error {
	c := p.script.cfg
	l.choice.Actor = strategy.NoActor
	if name := l.verb.By(); name != "" {
		if l.actor != name {
			return fmt.Errorf("%q cannot %s; hint: %s can", clip(l.actor), l.verb, name)
		}
		return nil
	}
	for i := range c.Clients {
		if l.actor == clientName(c, i) {
			l.choice.Actor = i
			return nil
		}
	}
	for i := range (c.Clients + c.Threads - 1) / max(1, c.Threads) {
		if l.actor == processName(i) {
			l.choice.Actor = c.Clients + i
			return nil
		}
	}
	return fmt.Errorf("nobody is called %q; hint: clients are %s to %s", clip(l.actor), clientName(c, 0), clientName(c, c.Clients-1))
}

// clientName is "c1", or "p1.c1" if processes have several clients.
func clientName(c Config, i int) string {
	if c.Threads > 1 {
		return fmt.Sprintf("%s.c%d", processName(i/c.Threads), i+1)
	}
	return fmt.Sprintf("c%d", i+1)
}

func processName(i int) string { return fmt.Sprintf("p%d", i+1) }

func number(into *int, text string, least, most int) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return reason(err)
	}
	if n < least || n > most {
		return fmt.Errorf("hint: from %d to %d", least, most)
	}
	*into = n
	return nil
}

func length(into *time.Duration, text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return reason(err)
	}
	if d < 0 {
		return errors.New("hint: not below zero")
	}
	if d > maxTime {
		return fmt.Errorf("too long; hint: up to %v", maxTime)
	}
	*into = d
	return nil
}

// reason is the error of a number, without the number.
func reason(err error) error {
	var n *strconv.NumError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &n):
		return n.Err
	}
	return errors.New("not a duration; hint: such as 1.5s")
}

// clip shortens text for an error.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

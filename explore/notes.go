package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/stepserver"
)

// notes are what is to be shown of a schedule: a row and a line of a replay file
// per step.
type notes struct {
	printer printer
	rows    []Row
	lines   []line
	// Of the step under way:
	at      time.Duration
	what    string // what a parked actor waited for
	command *stepserver.Command
	late    bool
	arrives bool // only the answer to command does, which ran before
	reply   string
}

// A line is one step of a replay file.
type line struct {
	actor string
	verb  verb
	// what is the command, or the operation and its first command, for a reader and
	// to tell commands apart; of a move or skew it is how far.
	what string
	// choice is what was chosen.
	choice choice
}

func (l line) String() string {
	return strings.TrimRight(fmt.Sprintf("%s %s %s", l.actor, l.verb, l.what), " ")
}

// before takes note of what a choice is about to be made of.
func (w *world) before(c choice) {
	n := w.notes
	if n == nil {
		return
	}
	n.at, n.what, n.command, n.late, n.arrives, n.reply = w.now(), "", nil, c.nth >= lateCommand, false, ""
	if c.actor == noActor || c.verb == verbSkew {
		return
	}
	if a := w.actors[c.actor]; c.nth >= lateCommand || c.nth < a.items() {
		n.looksAt(a.item(c.nth), a)
	}
}

// looksAt takes note of an item of a, nil being what it waits for by itself.
func (n *notes) looksAt(c *stepserver.Command, a *actor) {
	if n.command = c; c == nil {
		n.what = a.parked
		return
	}
	n.arrives = c.Answered()
}

// ran takes note of a command that was chosen and what it was answered.
func (w *world) ran(c *stepserver.Command, e stepserver.Effect) {
	if w.notes != nil {
		w.notes.command, w.notes.reply = c, w.notes.printer.reply(e.Reply)
	}
}

// note writes a step down, now that it is over.
func (w *world) note(c choice) {
	n := w.notes
	if n == nil {
		return
	}
	l := line{actor: w.nameOf(c), verb: c.verb, what: n.text(), choice: c}
	row := Row{At: n.at, Client: l.actor, Command: l.what, Reply: n.reply, Fault: string(c.verb.fault()), Holders: w.holders()}
	switch c.verb {
	case verbMove:
		l.what = c.at.String()
		row.Command = "passes, to " + c.at.String()
	case verbSkew:
		l.what = c.at.String()
		row.Command = fmt.Sprintf("its clock is %+v off", c.at)
	case verbTimeOut:
		row.Fault = "cancel, with a read time-out"
	case verbBegin:
		return
	case verbWait: // is implied
		n.lines = append(n.lines, l)
		return
	}
	if verbs[c.verb].by == byServer {
		row.Command = c.verb.String()
	}
	n.lines, n.rows = append(n.lines, l), append(n.rows, row)
}

// served writes down a command that ran without a choice.
func (w *world) served(c *stepserver.Command, e stepserver.Effect) {
	n := w.notes
	if n == nil {
		return
	}
	a := w.sender(c)
	if a == nil {
		a = w.prober
	}
	n.rows = append(n.rows, Row{
		At: w.now(), Client: a.name, Command: n.printer.of(c), Reply: n.printer.reply(e.Reply), Holders: w.holders(),
	})
}

// sentence is what the counterexample of a finding says, its clients by their names.
func (w *world) sentence(f checker.Finding) string {
	if f.Counterexample == nil {
		return ""
	}
	return numbered.ReplaceAllStringFunc(f.Counterexample.Sentence, func(s string) string {
		number, err := strconv.Atoi(numbered.FindStringSubmatch(s)[1])
		switch {
		case err == nil && number < len(w.clients):
			return w.clients[number].name
		case err == nil && number == w.prober.number:
			return w.prober.name
		}
		return s
	})
}

var numbered = regexp.MustCompile(`client (\d+)`)

// nameOf is the name of the actor of c.
func (w *world) nameOf(c choice) string {
	switch {
	case c.actor != noActor:
		return w.actors[c.actor].name
	case verbs[c.verb].by == byServer:
		return byServer
	}
	return byTime
}

// text is what the step's actor did: its own operation, the first command of it.
func (n *notes) text() string {
	var parts []string
	if n.late {
		parts = append(parts, "late:")
	}
	if n.arrives {
		parts = append(parts, "reply:")
	}
	if n.what != "" && n.command != nil {
		parts = append(parts, n.what+":")
	} else if n.what != "" {
		parts = append(parts, n.what)
	}
	if n.command != nil {
		parts = append(parts, n.printer.of(n.command))
	}
	return strings.Join(parts, " ")
}

// of renders a pending command.
func (p *printer) of(c *stepserver.Command) string {
	if len(c.Queued) > 0 {
		return p.transaction(c.Queued)
	}
	return p.command(c.Args)
}

// holders are the clients that believe to hold a key.
func (w *world) holders() (names []string) {
	for _, a := range w.clients {
		a.mu.Lock()
		holds := len(a.beliefs) > 0 && !a.crashed
		a.mu.Unlock()
		if holds {
			names = append(names, a.name)
		}
	}
	return slices.Clip(names)
}

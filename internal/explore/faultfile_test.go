package explore_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/fault"
)

// A faultFile is a replay file that shows a fault of a design, or that a suspected
// fault is none. Comments at its head add:
//
//	# fault: the fault, and the document that names it
//	# why: the reason, in one line
//	# found: flags of lockbench explore; schedule N; S s
//	# shows: a regular expression for its steps; if other schedules break the
//	         same cell more simply
//	# by hand: the author's part of the schedule, and the search's schedule instead
//	# steps: N
//
// Without a replay, "# design:" and "# breaks:" are the goal of -find.
type faultFile struct {
	path       string
	fault, why string
	flags      string // how to search, beyond the defaults of the command
	schedule   int64  // the number of the first schedule that shows it
	after      time.Duration
	shows      string
	byHand     string
	steps      int

	design  string
	breaks  lockbench.Cell
	verdict checker.Verdict
	replay  explore.Replay
}

func (f faultFile) name() string { return strings.TrimSuffix(filepath.Base(f.path), ".replay") }

func readFault(path string) (faultFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return faultFile{}, err
	}
	f, err := parseFault(path, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	if err != nil {
		return faultFile{}, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// parseFault reads the head, and the replay after it if there is one.
func parseFault(path string, text []byte) (f faultFile, err error) {
	f = faultFile{path: path, verdict: checker.Broken}
	rest := string(text)
	for strings.HasPrefix(rest, "# ") {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		name, value, _ := strings.Cut(line, ": ")
		if err := f.read(name, value); err != nil {
			return f, fmt.Errorf("%s: %w", line, err)
		}
	}
	if _, err := f.search(); err != nil {
		return f, err
	}
	if rest == "" {
		return f, nil
	}
	if f.replay, err = explore.ReadReplay(strings.NewReader(rest)); err != nil {
		return f, err
	}
	cfg, err := f.replay.Config()
	f.design = cfg.Design.Name
	f.breaks, f.verdict = f.replay.Breaks()
	return f, err
}

// read takes one line of the head.
func (f *faultFile) read(name, value string) (err error) {
	switch name {
	case "# fault":
		f.fault = value
	case "# why":
		f.why = value
	case "# found":
		return f.readFound(value)
	case "# shows":
		f.shows = value
		_, err = regexp.Compile(value)
	case "# by hand":
		f.byHand = value
	case "# steps":
		f.steps, err = strconv.Atoi(value)
	case "# design":
		f.design = value
	case "# breaks":
		cell, verdict, worse := strings.Cut(value, " ")
		if f.breaks, err = lockbench.ParseCell(cell); err == nil && worse {
			err = f.verdict.UnmarshalText([]byte(verdict))
		}
	default:
		err = errors.New("not a field; hint: fault, why, found, shows, by hand, steps")
	}
	return err
}

func (f *faultFile) readFound(value string) error {
	parts := strings.Split(value, ";")
	f.flags = strings.TrimSpace(parts[0])
	if len(parts) == 1 {
		return nil // not found yet
	}
	var seconds float64
	if _, err := fmt.Sscanf(strings.Join(parts[1:], ";"), " schedule %d; %f s", &f.schedule, &seconds); err != nil {
		return fmt.Errorf("%w; hint: FLAGS; schedule N; S s", err)
	}
	f.after = time.Duration(seconds * float64(time.Second))
	return nil
}

// text is the intended content of the file.
func (f faultFile) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# fault: %s\n# why: %s\n", f.fault, f.why)
	fmt.Fprintf(&b, "# found: %s", f.flags)
	if f.schedule > 0 {
		fmt.Fprintf(&b, "; schedule %d; %.1f s", f.schedule, f.after.Seconds())
	}
	b.WriteByte('\n')
	if f.shows != "" {
		fmt.Fprintf(&b, "# shows: %s\n", f.shows)
	}
	if f.byHand != "" {
		fmt.Fprintf(&b, "# by hand: %s\n", f.byHand)
	}
	fmt.Fprintf(&b, "# steps: %d\n", f.steps)
	b.Write(f.replay.Text)
	return b.Bytes()
}

// flagSet reads the flags of lockbench explore that define the search.
func flagSet(c *explore.Config) (set *pflag.FlagSet, strategy *string, kinds *[]string) {
	set = pflag.NewFlagSet("explore", pflag.ContinueOnError)
	set.StringVar(&c.Scenario, "scenario", "contend", "")
	for name, field := range map[string]*int{
		"clients": &c.Clients, "threads": &c.Threads, "pool": &c.Pool, "rounds": &c.Rounds, "faults": &c.Faults, "moves": &c.Moves,
	} {
		set.IntVar(field, name, *field, "")
	}
	for name, field := range map[string]*time.Duration{"ttl": &c.TTL, "wait": &c.Wait, "skew": &c.Skew} {
		set.DurationVar(field, name, *field, "")
	}
	set.Uint64Var(&c.Seed, "seed", 1, "")
	return set, set.String("strategy", string(explore.Exhaustive), ""), set.StringSlice("kinds", nil, "")
}

// search is the search that the flags define. Without a strategy it is the
// exhaustive half of the command's own.
func (f faultFile) search() (explore.Config, error) {
	c := explore.Config{Faults: 1, Moves: 2}
	set, strategy, kinds := flagSet(&c)
	if err := set.Parse(strings.Fields(f.flags)); err != nil {
		return c, err
	}
	c.Faults, c.Moves = cmp.Or(c.Faults, -1), cmp.Or(c.Moves, -1)
	c.Strategy = explore.Strategy(*strategy)
	for _, k := range *kinds {
		if k == "die" {
			c.Kinds = append(c.Kinds, fault.DieBefore, fault.DieAfter)
			continue
		}
		c.Kinds = append(c.Kinds, fault.Kind(k))
	}
	return c, nil
}

// needs lists the settings beyond the defaults of the command, but not those that
// restrict the search to a part of the defaults.
func (f faultFile) needs() string {
	c, err := f.search()
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, n := range []struct {
		name       string
		value, own int
	}{
		{"clients", c.Clients, 2}, {"threads a process", c.Threads, 1}, {"connections", c.Pool, 0},
		{"rounds", c.Rounds, 2}, {"faults", c.Faults, 1}, {"moves of time", c.Moves, 2},
	} {
		if n.value > n.own {
			all = append(all, fmt.Sprintf("%d %s", n.value, n.name))
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"a lease of", c.TTL}, {"a wait of", c.Wait}, {"clocks off by", c.Skew}} {
		if d.value != 0 {
			all = append(all, fmt.Sprintf("%s %v", d.name, d.value))
		}
	}
	return cmp.Or(strings.Join(all, ", "), "defaults")
}

// stepLines are the steps of a replay, without optional ones.
func stepLines(r explore.Replay) (steps []string) {
	_, text, _ := strings.Cut(string(r.Text), "\n\n")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		skip := line == "" || strings.HasPrefix(line, "#") || slices.Contains([]string{"time wait", "time begin", "all stop"}, line)
		if !skip {
			steps = append(steps, line)
		}
	}
	return steps
}

// matches reports whether the steps of r show the fault of the file.
func (f faultFile) matches(r explore.Replay) bool {
	return regexp.MustCompile(f.shows).MatchString(strings.Join(stepLines(r), "\n"))
}

// countSteps is the number of scheduling points of a replay. A transaction is one,
// from WATCH to EXEC, if no other client acts in between.
func countSteps(r explore.Replay) (n int) {
	watching := ""
	for _, line := range stepLines(r) {
		client, _, _ := strings.Cut(line, " ")
		part := transaction.FindStringSubmatch(line)
		within := part != nil && part[1] != "WATCH" && client == watching
		if !within {
			n++
		}
		watching = ""
		if part != nil && (part[1] == "WATCH" || within && part[1] == "HGETALL") {
			watching = client
		}
	}
	return n
}

var transaction = regexp.MustCompile(`^\S+ run (?:.*: )?(WATCH|HGETALL|EXEC)\b`)

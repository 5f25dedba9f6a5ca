package explore

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/fault"
)

// A Replay is a schedule that can be run again: a readable file in the format of
// [ReadReplay].
//
// Its first line is "lockbench replay 2". A header follows, one field and its value a line,
// then after an empty line the steps, one a line: the actor, the action (run, or the fault
// that occurs) and the command; for time, "at" and the time since the start. Lines that begin
// with # and empty lines are ignored. Random values are named token#1, token#2 ... in order
// of appearance.
type Replay struct {
	Text []byte
}

// maxReplay bounds the size of a replay file.
const maxReplay = 1 << 20

// ReadReplay reads a replay file. Its errors name the line and the reason.
func ReadReplay(r io.Reader) (Replay, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxReplay+1))
	if err != nil {
		return Replay{}, fmt.Errorf("read replay: %w", err)
	}
	if len(text) > maxReplay {
		return Replay{}, fmt.Errorf("read replay: more than %d bytes; hint: is it a replay file?", maxReplay)
	}
	if _, err := parseReplay(text); err != nil {
		return Replay{}, err
	}
	return Replay{text}, nil
}

// Config returns the configuration in the file. Its design has a name, and a definition if it needs
// one, and nothing else. Config returns the error of ReadReplay.
func (r Replay) Config() (Config, error) {
	p, err := parseReplay(r.Text)
	return p.cfg, err
}

// Breaks returns the cell that the schedule breaks according to the file, and the verdict; the zero
// Cell and Untested if the file has none.
func (r Replay) Breaks() (lockbench.Cell, checker.Verdict) {
	p, err := parseReplay(r.Text)
	if err != nil {
		return lockbench.Cell{}, checker.Untested
	}
	return p.breaks.Cell, p.breaks.Verdict
}

// A script is the content of a replay file.
type script struct {
	cfg     Config
	breaks  checker.CellFinding // with its verdict; zero if the file names none
	comment string              // describes the violation
	lines   []line
}

const replayMagic = "lockbench replay 2"

// text writes the script as a file.
func (s *script) text() []byte {
	var b bytes.Buffer
	c := s.cfg
	fmt.Fprintln(&b, replayMagic)
	var breaks string
	if s.breaks.Cell != (lockbench.Cell{}) {
		breaks = fmt.Sprintf("%s %s", s.breaks.Cell, s.breaks.Verdict)
	}
	var again string // only if it is not the default
	if c.Retries > 0 {
		again = fmt.Sprint(c.Retries)
	}
	for _, field := range []struct{ name, value string }{
		{"design", c.Design.Name},
		{"definition", c.Design.Definition},
		{"scenario", c.Scenario},
		{"clients", fmt.Sprint(c.Clients)},
		{"threads", fmt.Sprint(c.Threads)},
		{"pool", fmt.Sprint(c.Pool)},
		{"retries", again},
		{"rounds", fmt.Sprint(c.Rounds)},
		{"ttl", c.TTL.String()},
		{"wait", c.Wait.String()},
		{"skew", c.Skew.String()},
		{"seed", fmt.Sprint(c.Seed)},
		{"guard", string(c.Guard)},
		{"breaks", breaks},
	} {
		if field.value != "" {
			fmt.Fprintf(&b, "%s %s\n", field.name, field.value)
		}
	}
	fmt.Fprintln(&b)
	if s.comment != "" {
		fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(s.comment, "\n", " "))
	}
	for _, l := range s.lines {
		fmt.Fprintln(&b, l)
	}
	return b.Bytes()
}

// configForReplay returns cfg with budgets and faults that allow every script.
func configForReplay(cfg Config) Config {
	cfg.Faults, cfg.Moves, cfg.Kinds = maxEvents, maxEvents, fault.Explored()
	cfg.Strategy, cfg.Budget, cfg.Schedules = Exhaustive, time.Hour, 1
	return cfg
}

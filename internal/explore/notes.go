package explore

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/explore/internal/render"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// notes record a schedule for a reader: for each step a row of a table and a line of a replay file.
type notes struct {
	printer render.Printer
	rows    []Row
	lines   []line
	// Fields of the step under way:
	at      time.Duration
	what    string // the step that a parked actor waited for
	command *stepserver.Command
	late    bool
	arrives bool // the command ran before, and now its reply arrives
	reply   string
}

// A line is one step in a replay file.
type line struct {
	actor string
	verb  strategy.Verb
	// what is the command, or the operation and its first command. It tells commands apart for the
	// reader. For a time move or a skew it is the duration.
	what string
	// choice is the choice that was made.
	choice strategy.Choice
}

func (l line) String() string {
	return strings.TrimRight(fmt.Sprintf("%s %s %s", l.actor, l.verb, l.what), " ")
}

// before notes the actor and the command of a choice, before the choice is made.
func (w *world) before(c strategy.Choice) {
	n := w.notes
	if n == nil {
		return
	}
	n.at, n.what, n.command, n.late, n.arrives, n.reply = w.now(), "", nil, c.Nth >= strategy.LateCommand, false, ""
	if c.Actor == strategy.NoActor || c.Verb == strategy.VerbSkew {
		return
	}
	if a := w.actors[c.Actor]; c.Nth >= strategy.LateCommand || c.Nth < a.items() {
		n.looksAt(a.item(c.Nth), a)
	}
}

// looksAt notes an item of a; nil is its park.
func (n *notes) looksAt(c *stepserver.Command, a *actor) {
	if n.command = c; c == nil {
		n.what = a.parkedAt
		return
	}
	n.arrives = c.Answered()
}

// ran notes a chosen command and its reply.
func (w *world) ran(c *stepserver.Command, e stepserver.Effect) {
	if w.notes != nil {
		w.notes.command, w.notes.reply = c, w.notes.printer.Reply(e.Reply)
	}
}

// note adds the step that was just made.
func (w *world) note(c strategy.Choice) {
	n := w.notes
	if n == nil {
		return
	}
	l := line{actor: w.nameOf(c), verb: c.Verb, what: n.text(), choice: c}
	row := Row{At: n.at, Client: l.actor, Command: l.what, Reply: n.reply, Fault: string(c.Verb.Fault()), Holders: w.holders()}
	switch c.Verb {
	case strategy.VerbMove:
		l.what = c.At.String()
		row.Command = "passes, to " + c.At.String()
	case strategy.VerbStandstill:
		l.what = c.At.String()
		row.Command += "; all processes stand still for " + c.At.String()
	case strategy.VerbServerStandstill, strategy.VerbMachineStandstill:
		l.what = c.At.String()
		row.Command = "passes, for " + c.At.String()
	case strategy.VerbSkew:
		l.what = c.At.String()
		row.Command = fmt.Sprintf("its clock is %+v off", c.At)
	case strategy.VerbCancelBefore:
		row.Fault = "cancel, before the call"
	case strategy.VerbTimeOut:
		row.Fault = "cancel, with a read time-out"
	case strategy.VerbBegin:
		return
	case strategy.VerbWait: // is implied
		n.lines = append(n.lines, l)
		return
	}
	if c.Verb.OfServer() {
		row.Command = c.Verb.String()
	}
	n.lines, n.rows = append(n.lines, l), append(n.rows, row)
}

// served adds a command that ran without a choice.
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
		At: w.now(), Client: a.name, Command: n.printer.Command(c), Reply: n.printer.Reply(e.Reply), Holders: w.holders(),
	})
}

// text describes the step of the actor: its operation, and the first command of that.
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
		parts = append(parts, n.printer.Command(n.command))
	}
	return strings.Join(parts, " ")
}

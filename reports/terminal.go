package reports

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// TerminalOptions say where a report is read.
type TerminalOptions struct {
	// Color allows colours. What they say, the text says too.
	Color bool
	// Width of the terminal in characters; zero or less is unlimited. A narrow
	// one is spared the figures that are missed least.
	Width int
}

// Terminal writes r for people: the table of runs, then every broken guarantee
// with its counterexample, what was not exercised, and the outcome in one
// sentence. It returns the first error of w.
func Terminal(w io.Writer, r Result, opt TerminalOptions) error {
	t := &terminal{
		page: newPage(w, opt), result: &r, label: newLabel(r.Runs),
		exercisedBy: "this workload and its faults", unit: "design",
	}
	t.heading()
	t.thresholds()
	if len(r.Runs) > 0 {
		tab := table{palette: t.palette, result: &r, label: t.label}
		if err := tab.render(t.Writer, speedsAndVerdicts, opt.Width); err != nil {
			return err
		}
		t.legend()
		if err := t.arrivals(opt.Width); err != nil {
			return err
		}
		if err := t.costs(opt.Width); err != nil {
			return err
		}
		t.printf("\n")
		table := t.result.Guarantees()
		t.writeTable(&table, opt.Width)
	}
	t.troubles()
	t.injected()
	t.broken()
	t.guards()
	t.open()
	t.notExercised()
	t.selfCheck()
	t.outcome()
	return t.Flush()
}

// terminal is a report being written.
type terminal struct {
	page
	result *Result
	label  label
	// exercisedBy names what put the guarantees to the test.
	exercisedBy string
	unit        string // what may not have been run
}

// label names a run as briefly as tells it from the others.
type label struct {
	workloads bool // they have different ones
	points    bool // they are the points of a sweep
}

func newLabel(runs []Run) label {
	for i := range runs {
		if runs[i].Workload != runs[0].Workload {
			return label{workloads: true}
		}
	}
	return label{}
}

func (l label) of(run *Run) string {
	name := run.Design
	if guard := run.guard(); guard != "" {
		name += " +" + guard
	}
	if l.points {
		name += fmt.Sprintf(" (clients %v, keys %v)", run.Params["clients"], run.Params["keys"])
	}
	if l.workloads && run.Workload != "" {
		name += " " + run.Workload
	}
	return name
}

func (t *terminal) heading() {
	if len(t.result.Runs) == 0 {
		return
	}
	first := &t.result.Runs[0]
	var parts []string
	if first.Workload != "" && !t.label.workloads {
		parts = append(parts, "workload "+first.Workload)
	}
	params := first.Params
	if t.label.points {
		params = maps.Clone(params) // those of the points are in their table
		delete(params, "clients")
		delete(params, "keys")
	}
	parts = append(parts, settings(params)...)
	if loop := arrival(first.Params); loop != "" {
		parts = append(parts, loop)
	}
	if first.Seed != 0 {
		parts = append(parts, fmt.Sprintf("seed %d", first.Seed))
	}
	if len(parts) > 0 {
		t.printf("%s\n", strings.Join(parts, ", "))
	}
	t.servers()
	t.printf("\n")
}

// settings are the parameters worth a place in the heading. Their names are the
// fields of workloads.Options; what is zero or not told is left out.
func settings(params map[string]any) []string {
	var parts []string
	add := func(name, format string) {
		if v := setting(params, name); v != "" {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	add("clients", "%s clients")
	add("keys", "%s keys")
	add("slow_keys", "%s of keys slow")
	add("slow", "%s of holds slow")
	add("ttl_ns", "lease %s")
	add("hold", "hold %s")
	add("wait_ns", "wait %s")
	return parts
}

func setting(params map[string]any, name string) string {
	switch v := params[name].(type) {
	case string:
		return v
	case float64:
		switch {
		case v == 0:
			return ""
		case strings.HasSuffix(name, "_ns"):
			return compact(int64(v))
		case v < 1:
			return strconv.FormatFloat(100*v, 'g', 3, 64) + "%"
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// servers names each server used once.
func (t *terminal) servers() {
	seen := make(map[history.Server]bool)
	for i := range t.result.Runs {
		s := t.result.server(&t.result.Runs[i])
		s.Address = ""
		if seen[s] || s.Kind == "" {
			continue
		}
		seen[s] = true
		t.printf("server: %s, %s\n", kindOf(s), s.Version)
		if s.Kind == "embedded" {
			t.printf("%s speeds marked %s are the embedded server's, not the design's speed; put redis-server in PATH or give --redis URL to measure\n",
				t.warn("note:"), slowServer)
		}
	}
}

// kindOf is the kind of server, and of how many where there are several.
func kindOf(s history.Server) string {
	if s.Count > 1 {
		return fmt.Sprintf("%d %s servers", s.Count, s.Kind)
	}
	return s.Kind
}

func (t *terminal) legend() {
	t.printf("\n%s\n%s\n",
		t.dim("acquire: of those granted; hand-off: release to the next grant, somebody waiting;"),
		t.dim("breaches: of all guarantees, claimed or not; overlap: two owners at once, also past a lease"))
}

// troubles says what went wrong in the runs themselves.
func (t *terminal) troubles() {
	var lines []string
	for i := range t.result.Runs {
		run := &t.result.Runs[i]
		name := t.label.of(run)
		for _, d := range run.Defects {
			lines = append(lines, t.bad("DEFECT OF LOCKBENCH")+" "+name+": "+d)
		}
		if run.Error != "" {
			lines = append(lines, t.bad("error")+" "+name+": "+run.Error)
		}
		if run.Partial {
			lines = append(lines, t.warn("partial")+" "+name+": "+run.Why+"; what was recorded before is judged")
		}
		if much := run.unanswered(); much != "" {
			lines = append(lines, t.warn("unanswered")+" "+name+": "+much)
		}
		if run.Ended == endedByUser {
			lines = append(lines, t.warn("interrupted")+" "+name+": measured for "+compact(run.MeasuredNS)+", and judged up to there")
		}
		for _, note := range run.Notes {
			lines = append(lines, t.warn("note")+" "+name+": "+note)
		}
	}
	if n := t.result.NotRun; len(n) > 0 {
		lines = append(lines, t.warn("not run")+" "+strings.Join(n, ", "))
	}
	if len(lines) > 0 {
		t.printf("\n%s\n", strings.Join(lines, "\n"))
	}
}

// broken writes one section per design that broke something.
func (t *terminal) broken() {
	explained := false
	for i := range t.result.Runs {
		run := &t.result.Runs[i]
		names := run.Cells.Broken()
		if len(names) == 0 {
			continue
		}
		t.printf("\n%s broke %s\n", t.bold(t.label.of(run)), list(names))
		if !explained {
			explained = true
			t.printf("%s\n", t.dim("  [ granted   = within the lease   | lease over   . past it   R release   E extend   A acquire   r read   w write"))
			t.printf("%s\n", t.dim("  overlap: ! both within their lease   ~ one past it   (not to scale; numbers on the axis are those of the lines)"))
		}
		drawn := make(map[lockbench.Cell]*Counterexample)
		for _, cell := range names {
			t.brokenCell(run, cell, drawn)
		}
		t.printf("\n    check it again: %s\n", recheck(run))
	}
}

func recheck(run *Run) string {
	if run.History == "" {
		return "the history was not kept; --history DIR keeps it"
	}
	return "lockbench check " + quote(run.History)
}

// quote makes a path one word of a command line.
func quote(path string) string {
	if strings.ContainsAny(path, " \t'\"$&;()*?<>|\\") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// claim says whether what broke is claimed, and if not why.
func (t *terminal) claim(run *Run, cell lockbench.Cell) string {
	f := run.Cells[cell]
	if f.fails() {
		return t.bad("THE DESIGN CLAIMS IT")
	}
	if why := run.Reason(cell); why != "" {
		return t.warn("not claimed") + ": " + why
	}
	return t.warn("not claimed")
}

// Reason says why what breaks a cell does not count against the claims; empty where nobody
// says, or where it does.
func (r *Run) Reason(cell lockbench.Cell) string {
	f := r.Cells[cell]
	if why := reason(&r.Claims, cell); why != "" || f.Verdict != checker.Broken || f.fails() {
		return why
	}
	if f.Counterexample != nil {
		for _, g := range f.Counterexample.Breaks {
			if why := reason(&r.Claims, g.At(cell.Under)); why != "" {
				return fmt.Sprintf("it may be %s that was broken, and %s", g, why)
			}
		}
	}
	return "an exception covers what came after it"
}

// brokenCell writes one broken cell with its counterexample. One that was drawn for another
// cell of the run already is referred to.
func (t *terminal) brokenCell(run *Run, cell lockbench.Cell, drawn map[lockbench.Cell]*Counterexample) {
	f := run.Cells[cell]
	t.printf("\n  %s, %s\n    %s\n    %s\n", t.bad(cell.String()), cell.Under.Title(), t.claim(run, cell), detail(f))
	if f.Counterexample == nil {
		return
	}
	t.printf("    %s\n", f.Counterexample.Sentence)
	for other, w := range drawn {
		if reflect.DeepEqual(w.Holds, f.Counterexample.Holds) && reflect.DeepEqual(w.Ops, f.Counterexample.Ops) {
			t.printf("    by the operations shown for %s\n", other)
			return
		}
	}
	if !f.fails() && (cell.Under &^ cell.Guarantee.Info().About).Has(lockbench.Outlived) {
		return // leases end before work does: nothing to find out
	}
	drawn[cell] = f.Counterexample
	t.printf("    key %s, times since the start of the run%s\n\n", f.Counterexample.Key, margin(f.Counterexample.MarginNS))
	newTimeline(f.Counterexample).write(t.Writer, t.palette)
}

// margin prints by how much, unless that is nothing or, for a lock without a
// lease, for ever.
func margin(ns int64) string {
	if ns >= int64(10_000*time.Hour) {
		return ""
	}
	return after("; margin ", ns)
}

// detail is what a verdict says in numbers, then in words.
func detail(g Finding) string {
	var parts []string
	switch {
	case g.Exposure == 0 && g.Violations == 0:
	case g.scenarios != nil: // explored: what shows it counts once a schedule
		parts = append(parts, "in "+plural(g.Violations, "schedule")+", "+plural(g.Exposure, "occasion"))
	default:
		parts = append(parts, number(g.Violations)+" of "+plural(g.Exposure, "occasion"))
	}
	if m := measures(g.Measures); m != "" {
		parts = append(parts, m)
	}
	if g.Note != "" {
		parts = append(parts, g.Note)
	}
	return strings.Join(parts, "; ")
}

func list(names []lockbench.Cell) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = n.String()
	}
	return strings.Join(words, ", ")
}

package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/bench/commands"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/internal/lib/wrap"
)

// width is the number of columns of the page at most.
const width = 100

func section(all []*lock) string {
	var b strings.Builder
	b.WriteString("\n| lock | library | language | server | grants/s by requests | bare loop | a request costs | held | broken | broken, not claimed |\n|---|---|---|---|--:|--:|--:|---|---|---|\n")
	var notRun, evidence []string
	for _, l := range all {
		if !l.installed {
			notRun = append(notRun, fmt.Sprintf("%s (%s)", l.Name, l.Language))
			continue
		}
		b.WriteString(l.row())
		if text := l.evidence(); text != "" {
			evidence = append(evidence, text)
		}
	}
	if len(notRun) > 0 {
		b.WriteString("\n" + wrapped("Not run, since their libraries are not installed: "+strings.Join(notRun, ", ")+"."))
	}
	b.WriteString("\n### Evidence\n\n" + strings.Join(evidence, ""))
	return strings.TrimSuffix(b.String(), "\n")
}

func wrapped(text string) string { return strings.Join(wrap.Lines(text, width, 0), "\n") + "\n" }

// row returns the row of a lock that was run.
func (l *lock) row() string {
	h := l.check.Hello
	library := strings.TrimSpace(h.Library + " " + h.Version)
	if l.Remark != "" {
		library += " (" + l.Remark + ")"
	}
	server := "none"
	if slices.ContainsFunc(l.runs, func(r judged) bool { return r.Commands > 0 }) {
		server = cmp.Or(strings.TrimPrefix(l.bench.Server, "private, "), h.Service)
	}
	steps, bare, costs := "?", "?", "?"
	if len(l.unbenched) == 0 {
		steps = figures.Rate(l.bench.StepsGrantsPerS)
	}
	if l.bench.BareGrantsPerS != nil {
		bare, costs = figures.Rate(*l.bench.BareGrantsPerS), fmt.Sprintf("%.0fus", *l.bench.StepUS)
	}
	broken := l.cells(func(f checker.Finding) bool { return f.Against > 0 })
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", l.Name, library, h.Runtime, server,
		steps, bare, costs, l.held(broken), l.accused(broken),
		list(commands.Least(l.cells(func(f checker.Finding) bool { return f.Verdict == checker.Broken && f.Against == 0 }))))
}

// cells returns the cells of all runs with such a finding.
func (l *lock) cells(of func(checker.Finding) bool) (all []lockbench.Cell) {
	for _, r := range l.runs {
		for c, f := range r.Cells.Cells {
			if of(f) && !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, lockbench.Cell.Compare)
	return all
}

// held names the claimed guarantees that no run broke, if a run tested them.
func (l *lock) held(broken []lockbench.Cell) string {
	var names []lockbench.Guarantee
	for _, c := range l.cells(func(f checker.Finding) bool { return f.Claimed && f.Verdict == checker.Held }) {
		lost := slices.ContainsFunc(broken, func(o lockbench.Cell) bool { return o.Guarantee == c.Guarantee })
		if !lost && !slices.Contains(names, c.Guarantee) {
			names = append(names, c.Guarantee)
		}
	}
	return list(names)
}

// accused names the broken claims and counts the wrong answers of the check.
func (l *lock) accused(broken []lockbench.Cell) string {
	text := list(commands.Least(broken))
	if n := len(l.check.failed()); n > 0 {
		text = strings.TrimPrefix(text+", "+fmt.Sprintf("%d of the check", n), ", ")
	}
	if slices.ContainsFunc(l.runs, func(r judged) bool { return r.Error != "" }) {
		text = strings.TrimPrefix(text+", a run ended early", ", ")
	}
	return cmp.Or(text, "nothing")
}

func list[T any](all []T) string {
	var names []string
	for _, a := range all {
		names = append(names, fmt.Sprintf("`%v`", a))
	}
	return strings.Join(names, ", ")
}

// evidence returns the commands that show bugs of a lock, with their output; empty if none does.
func (l *lock) evidence() string {
	var b strings.Builder
	var failed []string
	for _, p := range l.check.failed() {
		failed = append(failed, p.Name+": "+p.Why)
	}
	if len(failed) > 0 {
		b.WriteString(session(l.checked, failed))
	}
	if len(l.unbenched) > 0 {
		b.WriteString(session(l.benched, l.unbenched))
	}
	for _, r := range l.runs {
		if lines := r.says(); len(lines) > 0 {
			b.WriteString(session(r.Command, lines))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	h := l.check.Hello
	return fmt.Sprintf("%s, %s:\n\n%s", l.Name, cmp.Or(strings.TrimSpace(h.Library+" "+h.Version), l.Language), b.String())
}

// says describes the broken claims of a run, and its error.
func (r *judged) says() (lines []string) {
	var broken []lockbench.Cell
	for _, c := range slices.SortedFunc(maps.Keys(r.Cells.Cells), lockbench.Cell.Compare) {
		if r.Cells.Cells[c].Against > 0 {
			broken = append(broken, c)
		}
	}
	for _, c := range commands.Least(broken) {
		f := r.Cells.Cells[c]
		line := fmt.Sprintf("%s, %d of %s", c, f.Violations, figures.Plural(f.Exposure, "occasion"))
		if f.Counterexample != nil {
			line += ": " + f.Counterexample.Sentence
		}
		lines = append(lines, line)
	}
	if r.Error != "" {
		lines = append(lines, r.Error)
	}
	return lines
}

// session returns a command and lines of its output as a block.
func session(c commands.Command, output []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "```\n$ %s\n", strings.Join(wrap.Command(string(c), width-2, 4), "\n"))
	for _, line := range output {
		text := strings.Join(strings.Fields(legible.Text(line)), " ")
		fmt.Fprintf(&b, "%s\n", strings.Join(wrap.Lines(text, width, 2), "\n"))
	}
	b.WriteString("```\n\n")
	return b.String()
}

package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// A summary builds the parts of the document of a result.
type summary struct {
	result *results.Result
	label  results.Label
	unit   string // the word for a run
}

func resultSummary(r *results.Result) *summary {
	s := &summary{result: r, label: newLabel(r.Runs), unit: "design"}
	switch {
	case r.Explored():
		s.unit = "exploration"
	case s.label.Points():
		s.unit = "point"
	}
	return s
}

func newLabel(runs []results.Run) (l results.Label) {
	l.Workloads = slices.ContainsFunc(runs, func(r results.Run) bool { return r.Workload != runs[0].Workload })
	l.TellPoints(runs)
	return l
}

// labels returns the shortest unique name of each run of r, in order.
func labels(r *results.Result) []string {
	of, given := newLabel(r.Runs), make(map[string]int)
	labels := make([]string, len(r.Runs))
	for i := range r.Runs {
		name := of.Of(&r.Runs[i])
		if given[name]++; given[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, given[name])
		}
		labels[i] = name
	}
	return labels
}

// settings returns the parameters of a run that matter in its heading, without the clients or keys
// in which points differ. Their names are the fields of workloads.Options. Zero and unknown values
// are left out.
func (s *summary) settings(run *results.Run) []string {
	var parts []string
	add := func(name, format string) {
		if v := results.Setting(run.Params, name); v != "" {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	if !s.label.Clients {
		add("clients", "%s clients")
	}
	if !s.label.Keys {
		add("keys", "%s keys")
	}
	add("stallers", "%s stallers")
	add("slow", "%s of holds slow")
	add("ttl_ns", "lease %s")
	add("hold", "hold %s")
	add("wait_ns", "wait %s")
	switch {
	case run.Share != "":
		parts = append(parts, "part "+run.Share)
	case len(run.Machines) > 1:
		on := fmt.Sprintf("%d machines", len(run.Machines))
		if shared, _ := run.Params["shared_keys"].(bool); shared {
			on += " with shared keys"
		}
		parts = append(parts, on)
	}
	if run.Stamps != "" && !slices.ContainsFunc(s.result.Runs, func(other results.Run) bool { return other.Stamps != run.Stamps }) {
		parts = append(parts, "times of the "+run.Stamps+"'s clock")
	}
	return parts
}

// heading returns the settings common to all runs.
func (s *summary) heading() []string {
	first := &s.result.Runs[0]
	var parts []string
	if first.Workload != "" && !s.label.Workloads {
		parts = append(parts, "workload "+first.Workload)
	}
	parts = append(parts, s.settings(first)...)
	if loop := arrival(first.Params); loop != "" {
		parts = append(parts, loop)
	}
	if first.Seed != 0 {
		parts = append(parts, fmt.Sprintf("seed %d", first.Seed))
	}
	return parts
}

// servers returns a line for each server used.
func (s *summary) servers() (all []document.Block) {
	seen := make(map[runinfo.Server]bool)
	for i := range s.result.Runs {
		server := s.result.ServerOf(&s.result.Runs[i])
		server.Address = ""
		if seen[server] || server.Kind == "" {
			continue
		}
		seen[server] = true
		all = append(all, &document.Paragraph{Text: fmt.Sprintf("server: %s, %s", kindOf(server), server.Version)})
		if server.Kind == "embedded" {
			all = append(all, &document.Paragraph{Word: "note:", Tone: document.Weak,
				Text: fmt.Sprintf("speeds marked %s are the embedded server's, not the design's speed; put redis-server in PATH or give --server URL to measure", results.SlowServer)})
		}
	}
	return all
}

// kindOf returns the kind of the server, with the number of servers if there are several.
func kindOf(s runinfo.Server) string {
	if s.Count > 1 {
		return fmt.Sprintf("%d %s servers", s.Count, s.Kind)
	}
	return s.Kind
}

// troubles returns the errors of the runs themselves.
func (s *summary) troubles() *document.List {
	l := &document.List{}
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		add := func(tone document.Tone, word, text string) {
			l.Items = append(l.Items, document.Item{Word: word, Tone: tone, Text: s.label.Of(run) + ": " + text})
		}
		for _, d := range run.Defects {
			add(document.Bad, "DEFECT OF LOCKBENCH", d)
		}
		if run.Error != "" {
			add(document.Bad, "error", run.Error)
		}
		if run.Partial {
			add(document.Weak, "partial", run.Why+"; what was recorded before is judged")
		}
		if n := run.Counts.Unjudged; n > 0 {
			add(document.Weak, "not judged", fmt.Sprintf("%s of which nothing says when their validity began", figures.Plural(n, "grant")))
		}
		if much := run.Unanswered(); much != "" {
			add(document.Weak, "unanswered", much)
		}
		if still := stoodStill(run); still != "" && len(s.result.Runs) <= fewRuns {
			add(document.Weak, "stood still", still)
		}
		if left := leftTaken(run); left != "" && len(s.result.Runs) <= fewRuns {
			add(document.Weak, "left taken", left)
		}
		if run.Ended == results.EndedByUser {
			add(document.Weak, "interrupted", "measured for "+figures.Compact(run.MeasuredNS)+", and judged up to there")
		}
		for _, note := range run.Notes {
			add(document.Weak, "note", note)
		}
	}
	if n := s.result.NotRun; len(n) > 0 {
		l.Items = append(l.Items, document.Item{Word: "not run", Tone: document.Weak, Text: strings.Join(n, ", ")})
	}
	return l
}

// leftTaken returns a sentence on keys that acquires without an answer left locked, with the time
// that other clients had to wait; empty if no client had to.
func leftTaken(r *results.Run) string {
	l := r.Latency["left_taken"]
	if l.Count == 0 {
		return ""
	}
	return fmt.Sprintf("an acquire without an answer left its key taken for nobody %s: for %s at the median, at most %s",
		figures.Plural(l.Count, "time"), figures.Compact(l.P50), figures.Compact(l.Max))
}

// conclude sets the headline of d, which explains the exit code, with the reason, the conclusion
// and further facts.
func (s *summary) conclude(d *document.Document) {
	d.Exit, d.Tone = s.result.Exit, exitTone(s.result.Exit)
	d.Headline, d.Why = s.verdict()
	if s.concluded() {
		d.Conclusion, d.Tone = s.headlined(), s.headlineTone()
	}
	d.Beside = s.unclaimedBreaks()
}

// unclaimedBreaks returns a paragraph with the broken cells that are not claimed, nil if there are
// none.
func (s *summary) unclaimedBreaks() *document.Paragraph {
	var links []document.Link
	var only []string
	for i, label := range labels(s.result) {
		run := &s.result.Runs[i]
		names := run.Cells.Names(func(_ lockbench.Cell, f checker.Finding) bool { return f.Verdict == checker.Broken && f.Against == 0 })
		if len(names) == 0 || run.Control != "" {
			continue
		}
		links = append(links, document.Link{Text: label, ID: runID(i)})
		if len(run.Cells.Names(func(_ lockbench.Cell, f checker.Finding) bool { return f.Against > 0 })) == 0 {
			only = append(only, s.label.Of(run))
		}
	}
	if len(links) == 0 {
		return nil
	}
	p := &document.Paragraph{Word: "Broken where nothing was claimed:", Links: links}
	unit := "design"
	if s.label.Points() {
		unit = s.unit
	}
	if len(links) > manyLinks {
		p.Links = []document.Link{{Text: figures.Plural(int64(len(links)), unit), ID: "guarantees"}}
	}
	switch words := s.words(); {
	case s.result.Exit == results.Passed && words != "":
		p.Text = "a lock may claim little: " + words
	case len(only) > 0:
		p.Text = "broken only where nothing was claimed: " + shortly(only)
	}
	return p
}

// words counts the conclusions on several locks; empty for fewer than two.
func (s *summary) words() string {
	count, all := make(map[conclusion.Word]int), 0
	for i := range s.result.Runs {
		if c := s.result.Runs[i].Conclusion; c != nil {
			count[c.Word]++
			all++
		}
	}
	if all < 2 {
		return ""
	}
	return countedWords(count)
}

func exitTone(exit int) document.Tone {
	switch exit {
	case results.Passed:
		return document.Good
	case results.BrokenClaim, results.FailedThreshold:
		return document.Bad
	}
	return document.Weak
}

// fewRuns is the largest number of runs that a sentence names, and manyLinks that of links in a row.
const (
	fewRuns   = 3
	manyLinks = 8
)

// verdict returns the meaning of the exit code in a few words, and the reason.
func (s *summary) verdict() (headline, why string) {
	failed := s.failures()
	switch s.result.Exit {
	case results.Passed:
		if accepted := s.acceptedBreaks(); len(accepted) > 0 {
			return "Every broken claim is accepted", strings.Join(accepted, "; ") + s.weakClaims()
		}
		headline, why = "No claim was broken", heldClaims(slices.ContainsFunc(s.result.Runs, func(r results.Run) bool { return r.Cells.KeepsClaims() }))+s.weakClaims()
	case results.BrokenClaim:
		headline, why = "Claims were broken", strings.Join(s.breakers(), "; ")
	case results.FailedThreshold:
		return "Thresholds failed", strings.Join(failed, "; ")
	default:
		headline, why = "Inconclusive", s.reasons()
	}
	if len(failed) > 0 {
		why += "; thresholds failed too: " + strings.Join(failed, "; ")
	}
	return headline, why
}

// heldClaims returns a clause for a result without broken claims. some reports whether any claim
// was put to the test.
func heldClaims(some bool) string {
	if some {
		return "every claim that this could exercise was held"
	}
	return "nothing was claimed that this could exercise"
}

// breakers returns the runs that broke claims, with the cells.
func (s *summary) breakers() (claimed []string) {
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		if names := run.Cells.Failing(); len(names) > 0 {
			claimed = append(claimed, s.label.Of(run)+" broke "+list(names))
		}
		if run.Search == nil {
			continue
		}
		if names := run.Search.Parts.Together(false).Failing(); len(names) > 0 {
			claimed = append(claimed, s.lockName(run)+" broke "+list(names)+" when it was explored")
		}
	}
	return claimed
}

// reasons returns the reasons why the result is inconclusive, by run.
func (s *summary) reasons() string {
	check := s.result.SelfCheck
	proven := check == nil || check.Caught // if not caught, cells are untested for that reason alone
	var why []string
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		reason, _ := run.WhyInconclusive()
		if proven && run.Exit == results.Inconclusive {
			reason = s.open(i)
		}
		if reason != "" {
			why = append(why, s.label.Of(run)+" "+reason)
		}
	}
	if len(s.result.NotRun) > 0 {
		why = append(why, figures.Plural(int64(len(s.result.NotRun)), s.unit)+" not run")
	}
	if proven {
		why = append(why, s.undecided()...)
	} else {
		why = append(why, "a lock broken on purpose was not caught, so that what held counts as untested: "+check.Reason())
	}
	if len(why) == 0 {
		return "nothing was run"
	}
	return strings.Join(why, "; ")
}

// open returns the reason why the i-th run is inconclusive; empty if a threshold states it already.
func (s *summary) open(i int) string {
	run := &s.result.Runs[i]
	unfit, _ := run.WhyInconclusive()
	untested := run.Cells.Untested()
	switch {
	case unfit != "":
		return unfit
	case run.OpenLoop != nil && !run.OpenLoop.KeptUp:
		return "was not offered the load that was asked for"
	case len(untested) > 0:
		return "met too little of " + list(untested)
	case resultOpen(s.result, i):
		return ""
	}
	return "showed too little"
}

// openClaims returns the claims that the runs could put to the test, but that had no occasion.
func (s *summary) openClaims() *document.Section {
	return s.each("open, claims that met too little to say", func(c results.Cells, cell lockbench.Cell) bool { return c.Open(cell) })
}

// each returns, under a heading, a list for each cell that matches in some run.
func (s *summary) each(heading string, match func(results.Cells, lockbench.Cell) bool) *document.Section {
	section := &document.Section{Title: heading}
	all := make(checker.Cells)
	for i := range s.result.Runs {
		maps.Copy(all, s.result.Runs[i].Cells.Cells)
	}
	for _, cell := range all.Sorted() {
		var runs []*results.Run
		for i := range s.result.Runs {
			run := &s.result.Runs[i]
			if _, judged := run.Cells.Cells[cell]; judged && match(run.Cells, cell) {
				runs = append(runs, run)
			}
		}
		if len(runs) > 0 {
			section.Blocks = append(section.Blocks, s.cell(cell, runs))
		}
	}
	return section
}

// cell returns the findings of runs on one cell. A note that all of them share comes first, once.
func (s *summary) cell(cell lockbench.Cell, runs []*results.Run) *document.List {
	shared := runs[0].Cells.At(cell).Note
	if slices.ContainsFunc(runs, func(run *results.Run) bool { return run.Cells.At(cell).Note != shared }) {
		shared = ""
	}
	l := &document.List{Title: strings.TrimSuffix(cell.String()+": "+shared, ": ")}
	for _, run := range runs {
		f := run.Cells.At(cell)
		if shared != "" {
			f.Note = ""
		}
		l.Items = append(l.Items, document.Item{Name: s.label.Of(run), Text: detail(f)})
	}
	return l
}

// notExercised returns the claimed guarantees that by, a phrase for the workload and faults, cannot
// put to the test.
func (s *summary) notExercised(by string) *document.List {
	l := &document.List{Title: "claimed, but not exercised by " + by}
	for _, g := range lockbench.Guarantees() {
		var claiming int
		var designs []string
		for i := range s.result.Runs {
			run := &s.result.Runs[i]
			claimed, exercised := claims(run, g.Name)
			if claimed {
				claiming++
			}
			if claimed && !exercised {
				designs = append(designs, s.label.Of(run))
			}
		}
		if len(designs) > 0 {
			l.Items = append(l.Items, document.Item{Name: string(g.Name), Text: allOf(designs, claiming)})
		}
	}
	return l
}

// claims reports whether g is claimed, and whether it was exercised or had an occasion
// nevertheless, under any conditions.
func claims(r *results.Run, g lockbench.Guarantee) (claimed, exercised bool) {
	for cell, f := range r.Cells.Cells {
		if cell.Guarantee == g {
			claimed = claimed || f.Claimed
			exercised = exercised || f.Exercised || f.Verdict.Graver(checker.Untested)
		}
	}
	return claimed, exercised
}

// allOf returns the names of designs, or their number if they are many and include every design
// that makes the claim.
func allOf(designs []string, claimants int) string {
	if len(designs) == claimants && claimants > 3 {
		return fmt.Sprintf("all %d that claim it", claimants)
	}
	return strings.Join(designs, ", ")
}

func list(names []lockbench.Cell) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = n.String()
	}
	return strings.Join(words, ", ")
}

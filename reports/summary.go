package reports

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// A summary says in words what the runs of a result came to.
type summary struct {
	result *Result
	label  label
	unit   string // what a run is called
}

func (r *Result) summary() *summary {
	s := &summary{result: r, label: newLabel(r.Runs), unit: "design"}
	if r.explored() {
		s.unit = "exploration"
	}
	return s
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

// labels name the runs of r in their order, as briefly as tells them apart.
func (r *Result) labels() []string {
	of, given := newLabel(r.Runs), make(map[string]int)
	labels := make([]string, len(r.Runs))
	for i := range r.Runs {
		name := of.of(&r.Runs[i])
		if given[name]++; given[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, given[name])
		}
		labels[i] = name
	}
	return labels
}

func (r *Result) explored() bool { return len(r.Runs) > 0 && r.Runs[0].Exploration != nil }

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
			return figures.Compact(int64(v))
		case v < 1:
			return strconv.FormatFloat(100*v, 'g', 3, 64) + "%"
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// heading is what all runs were made under: the settings, without those of the points of a
// sweep, which are in their table.
func (s *summary) heading() []string {
	first := &s.result.Runs[0]
	var parts []string
	if first.Workload != "" && !s.label.workloads {
		parts = append(parts, "workload "+first.Workload)
	}
	params := first.Params
	if s.label.points {
		params = maps.Clone(params)
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
	return parts
}

// servers names each server used once.
func (s *summary) servers() (all []document.Block) {
	seen := make(map[history.Server]bool)
	for i := range s.result.Runs {
		server := s.result.server(&s.result.Runs[i])
		server.Address = ""
		if seen[server] || server.Kind == "" {
			continue
		}
		seen[server] = true
		all = append(all, &document.Paragraph{Text: fmt.Sprintf("server: %s, %s", kindOf(server), server.Version)})
		if server.Kind == "embedded" {
			all = append(all, &document.Paragraph{Word: "note:", Tone: document.Weak,
				Text: fmt.Sprintf("speeds marked %s are the embedded server's, not the design's speed; put redis-server in PATH or give --redis URL to measure", slowServer)})
		}
	}
	return all
}

// kindOf is the kind of server, and of how many where there are several.
func kindOf(s history.Server) string {
	if s.Count > 1 {
		return fmt.Sprintf("%d %s servers", s.Count, s.Kind)
	}
	return s.Kind
}

// endedByUser is what the history of a run says that was interrupted.
const endedByUser = "interrupted"

// troubles says what went wrong in the runs themselves.
func (s *summary) troubles() *document.List {
	l := &document.List{}
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		add := func(tone document.Tone, word, text string) {
			l.Items = append(l.Items, document.Item{Word: word, Tone: tone, Text: s.label.of(run) + ": " + text})
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
		if much := run.unanswered(); much != "" {
			add(document.Weak, "unanswered", much)
		}
		if run.Ended == endedByUser {
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

// muchUnanswered is the share of operations without an answer from which on it is said, of
// a run in which no fault was injected.
const muchUnanswered = 0.01

// unanswered says which share of the operations of a run failed or had no answer, where
// nothing was injected that explains it; empty for little. What a guarded store turned away
// was answered.
func (r *Run) unanswered() string {
	n := r.Counts.Failed - r.Counts.Stale + r.Counts.Unknown
	if len(r.Faults)+len(r.Injected) > 0 || r.Exploration != nil || float64(n) <= muchUnanswered*float64(r.Counts.Ops) {
		return ""
	}
	return fmt.Sprintf("%s of %s failed or had no answer, and no fault was injected", figures.Number(n), figures.Plural(r.Counts.Ops, "operation"))
}

// conclude puts into d what the exit code means, in a few words, why, and what it does not say.
func (s *summary) conclude(d *document.Document) {
	d.Exit, d.Tone = s.result.Exit, exitTone(s.result.Exit)
	d.Headline, d.Why = s.verdict()
	if cut := s.runsThat(func(r *Run) bool { return r.Ended == endedByUser }); cut != "" {
		d.Why += "; interrupted: " + cut
	}
	d.Beside = s.beside()
}

// beside names what was broken where nobody had claimed it; nil for nothing.
func (s *summary) beside() *document.Paragraph {
	var links []document.Link
	var only []string
	for i, label := range s.result.labels() {
		run := &s.result.Runs[i]
		names := run.Cells.names(func(_ lockbench.Cell, f Finding) bool { return f.Verdict == checker.Broken && !f.fails() })
		if len(names) == 0 {
			continue
		}
		links = append(links, document.Link{Text: label, ID: runID(i)})
		if !slices.ContainsFunc(run.Cells.sorted(), run.Cells.fails) {
			only = append(only, s.label.of(run))
		}
	}
	if len(links) == 0 {
		return nil
	}
	p := &document.Paragraph{Word: "Broken where nothing was claimed:", Links: links}
	if len(only) > 0 {
		p.Text = "broken only where nothing was claimed: " + strings.Join(only, ", ")
	}
	return p
}

func exitTone(exit int) document.Tone {
	switch exit {
	case Passed:
		return document.Good
	case BrokenClaim, FailedThreshold:
		return document.Bad
	}
	return document.Weak
}

// fewRuns is up to how many runs a sentence names.
const fewRuns = 3

// runsThat names the runs that match, by number where they are many; empty for none.
func (s *summary) runsThat(match func(*Run) bool) string {
	var names []string
	for i := range s.result.Runs {
		if run := &s.result.Runs[i]; match(run) {
			names = append(names, s.label.of(run))
		}
	}
	if len(names) > fewRuns {
		return fmt.Sprintf("%d of %s", len(names), figures.Plural(int64(len(s.result.Runs)), s.unit))
	}
	return strings.Join(names, ", ")
}

// verdict is what the exit code means, in a few words, and why.
func (s *summary) verdict() (headline, why string) {
	failed := s.failures()
	switch s.result.Exit {
	case Passed:
		headline, why = "No claim was broken", heldClaims(slices.ContainsFunc(s.result.Runs, func(r Run) bool { return r.Cells.keepsClaims() }))
	case BrokenClaim:
		headline, why = "Claims were broken", strings.Join(s.breakers(), "; ")
	case FailedThreshold:
		return "Thresholds failed", strings.Join(failed, "; ")
	default:
		headline, why = "Inconclusive", s.reasons()
	}
	if len(failed) > 0 {
		why += "; thresholds failed too: " + strings.Join(failed, "; ")
	}
	return headline, why
}

// heldClaims says what it is worth that no claim was broken: next to nothing where none was
// put to the test.
func heldClaims(some bool) string {
	if some {
		return "every claim that this could exercise was held"
	}
	return "nothing was claimed that this could exercise"
}

// breakers names the runs that broke what they claim, with what.
func (s *summary) breakers() (claimed []string) {
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		if names := run.Cells.names(func(_ lockbench.Cell, f Finding) bool { return f.fails() }); len(names) > 0 {
			claimed = append(claimed, s.label.of(run)+" broke "+list(names))
		}
	}
	return claimed
}

// reasons says why nothing can be said, by run.
func (s *summary) reasons() string {
	if c := s.result.SelfCheck; c != nil && !c.Caught {
		return "a lock broken on purpose was not caught, so that what held counts as untested: " + c.reason()
	}
	var why []string
	for i := range s.result.Runs {
		if run := &s.result.Runs[i]; run.Exit == Inconclusive {
			if reason := s.open(i); reason != "" {
				why = append(why, s.label.of(run)+" "+reason)
			}
		}
	}
	if len(s.result.NotRun) > 0 {
		why = append(why, figures.Plural(int64(len(s.result.NotRun)), s.unit)+" not run")
	}
	why = append(why, s.undecided()...)
	if len(why) == 0 {
		return "nothing was run"
	}
	return strings.Join(why, "; ")
}

// open says why the i-th run is inconclusive; empty where that is told with a threshold.
func (s *summary) open(i int) string {
	run := &s.result.Runs[i]
	unfit, _ := run.unfit()
	untested := run.Cells.untested()
	switch {
	case unfit != "":
		return unfit
	case run.OpenLoop != nil && !run.OpenLoop.KeptUp:
		return "was not offered the load that was asked for"
	case len(untested) > 0:
		return "met too little of " + list(untested)
	case s.result.open(i):
		return ""
	}
	return "showed too little"
}

// openClaims are the claims that could have been exercised and met too little.
func (s *summary) openClaims() *document.Section {
	return s.each("open, claims that met too little to say", Cells.open)
}

// each is a list for each cell that matches in some run, under a heading.
func (s *summary) each(heading string, match func(Cells, lockbench.Cell) bool) *document.Section {
	section := &document.Section{Title: heading}
	all := make(Cells)
	for i := range s.result.Runs {
		maps.Copy(all, s.result.Runs[i].Cells)
	}
	for _, cell := range all.sorted() {
		var runs []*Run
		for i := range s.result.Runs {
			run := &s.result.Runs[i]
			if _, judged := run.Cells[cell]; judged && match(run.Cells, cell) {
				runs = append(runs, run)
			}
		}
		if len(runs) > 0 {
			section.Blocks = append(section.Blocks, s.cell(cell, runs))
		}
	}
	return section
}

// cell lists what runs have to say of one cell; a note that all of them share stands before
// them, once.
func (s *summary) cell(cell lockbench.Cell, runs []*Run) *document.List {
	shared := runs[0].Cells[cell].Note
	if slices.ContainsFunc(runs, func(run *Run) bool { return run.Cells[cell].Note != shared }) {
		shared = ""
	}
	l := &document.List{Title: strings.TrimSuffix(cell.String()+": "+shared, ": ")}
	for _, run := range runs {
		f := run.Cells[cell]
		if shared != "" {
			f.Note = ""
		}
		l.Items = append(l.Items, document.Item{Name: s.label.of(run), Text: detail(f)})
	}
	return l
}

// notExercised names the guarantees that are claimed and that by cannot put to the test.
func (s *summary) notExercised(by string) *document.List {
	l := &document.List{Title: "claimed, but not exercised by " + by}
	for _, g := range lockbench.Guarantees() {
		var claiming int
		var designs []string
		for i := range s.result.Runs {
			run := &s.result.Runs[i]
			claimed, exercised := run.claims(g.Name)
			if claimed {
				claiming++
			}
			if claimed && !exercised {
				designs = append(designs, s.label.of(run))
			}
		}
		if len(designs) > 0 {
			l.Items = append(l.Items, document.Item{Name: string(g.Name), Text: allOf(designs, claiming)})
		}
	}
	return l
}

// claims reports whether g is claimed, and whether it was exercised or met all the same, under
// whatever conditions.
func (r *Run) claims(g lockbench.Guarantee) (claimed, exercised bool) {
	for cell, f := range r.Cells {
		if cell.Guarantee == g {
			claimed = claimed || f.Claimed
			exercised = exercised || f.Exercised || f.Verdict.Graver(checker.Untested)
		}
	}
	return claimed, exercised
}

// allOf names designs, by number when they are all that claim it and many.
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

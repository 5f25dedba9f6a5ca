package reports

import (
	"fmt"
)

// Funcs are the ways in which this package writes figures, for templates of others:
// compact, exact, moment and brief take ns; figure a rate or ratio, number and plural counts.
func Funcs() map[string]any {
	return map[string]any{
		"compact": compact, "exact": exact, "moment": moment,
		"figure": figure, "number": number, "plural": plural, "brief": brief,
	}
}

// Compact writes a duration in ns in at most six characters ("850ns", "1.2ms"), from a
// minute on as Go does.
func Compact(ns int64) string { return compact(ns) }

// Figure writes a rate or a ratio: one decimal below ten, else whole; a dash for zero.
func Figure(v float64) string { return figure(v) }

// Number writes a count with its thousands separated by commas.
func Number(n int64) string { return number(n) }

// Outcome says what the exit code of r means, in a few words, and why, and names what was
// broken where nobody had claimed it.
func (r *Result) Outcome() (headline, why string) { return r.terminal().meaning() }

// Verdict is Outcome without what nobody had claimed.
func (r *Result) Verdict() (headline, why string) {
	t := r.terminal()
	headline, why = t.verdict()
	return headline, why + t.leftOpen()
}

func (r *Result) terminal() *terminal {
	t := &terminal{result: r, label: newLabel(r.Runs), unit: "design"}
	if r.explored() {
		t.unit = "exploration"
	}
	return t
}

// Labels name the runs of r in their order, as briefly as tells them apart.
func (r *Result) Labels() []string {
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

// Designs returns r with one run per design: scenarios in which a design was explored are
// judged together. A result of anything else is returned as it is.
func (r Result) Designs() Result {
	if r.explored() {
		return byDesign(r)
	}
	return r
}

// Settings are the parameters of a run worth a place in its heading, and how requests
// arrive.
func (r *Run) Settings() []string {
	all := settings(r.Params)
	if loop := arrival(r.Params); loop != "" && r.Exploration == nil {
		all = append(all, loop)
	}
	return all
}

// Recheck is the command that judges the record of a run again, or how to have one.
func (r *Run) Recheck() string { return recheck(r) }

// Kind says what kind of server it was that a run of r used, and how many of them.
func (r *Result) Kind(run *Run) string { return kindOf(r.server(run)) }

// Version is that of the server that a run of r used.
func (r *Result) Version(run *Run) string { return r.server(run).Version }

// Detail is what a verdict says in numbers, then in words.
func (f Finding) Detail() string { return detail(f) }

// Margin returns by how much, empty where that is nothing or for ever.
func (w *Counterexample) Margin() string { return margin(w.MarginNS) }

// Active is the last stamp, in ns, at which the owner of h was seen to act under it.
func (w *Counterexample) Active(h *Hold) int64 { return w.active(h) }

// LeaseOver reports whether the end of h's lease is part of the story: it is not once its
// owner has given the lock up.
func (h *Hold) LeaseOver() bool { return h.leaseOver() }

// Told is an operation in words, and the stamp in ns at which it mattered: a grant when the
// client knew of it, anything else when it was called.
func (o *Op) Told() (at int64, words string) {
	e := newEntry(o)
	return e.at, e.text
}

// Explored says, line by line, what was explored of the design that a run of r is of.
func (r *Result) Explored(design string) []string { return coverage(r.Runs, design, true) }

// Values returns the runs that decided a threshold of r, with their values.
func (r *Result) Values(th *Threshold) string {
	return r.terminal().readings(th)
}

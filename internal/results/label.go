package results

import (
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/figures"
)

// A Label names a run as briefly as tells it from the others.
type Label struct {
	Workloads bool // they have different ones
	// Clients and Keys: a design ran with several numbers of them, see [Label.TellPoints].
	Clients, Keys bool
}

// TellPoints has l distinguish the runs of a design and guard in one session, which has one seed, by
// the numbers of clients and keys in which they differ: the points at which the design ran.
func (l *Label) TellPoints(runs []Run) {
	type session struct {
		design string
		seed   uint64
	}
	first := make(map[session]*Run)
	for i := range runs {
		run := &runs[i]
		at := session{Label{Workloads: true}.Of(run), run.Seed}
		other, seen := first[at]
		if !seen {
			first[at] = run
			continue
		}
		l.Clients = l.Clients || Setting(run.Params, "clients") != Setting(other.Params, "clients")
		l.Keys = l.Keys || Setting(run.Params, "keys") != Setting(other.Params, "keys")
	}
}

// Points reports whether a design ran at several points.
func (l Label) Points() bool { return l.Clients || l.Keys }

// Point names the point of run, empty where there are not several.
func (l Label) Point(run *Run) string {
	var parts []string
	if l.Clients {
		parts = append(parts, "clients "+Setting(run.Params, "clients"))
	}
	if l.Keys {
		parts = append(parts, "keys "+Setting(run.Params, "keys"))
	}
	return strings.Join(parts, ", ")
}

// Of is the name of run.
func (l Label) Of(run *Run) string {
	name := run.Design
	if guard := run.Guard(); guard != "" {
		name += " +" + guard
	}
	if point := l.Point(run); point != "" {
		name += " (" + point + ")"
	}
	if l.Workloads && run.Workload != "" {
		name += " " + run.Workload
	}
	return name
}

// Locks returns the indexes of the runs of each lock, a design with its guard and workload, in the
// order of the first of each: all its points where r has points, else every run alone.
func (r *Result) Locks() [][]int {
	var points Label
	points.TellPoints(r.Runs)
	var all [][]int
	at := make(map[string]int)
	for i := range r.Runs {
		name := Label{Workloads: true}.Of(&r.Runs[i])
		if n, known := at[name]; known && points.Points() {
			all[n] = append(all[n], i)
			continue
		}
		at[name] = len(all)
		all = append(all, []int{i})
	}
	return all
}

// Explored reports whether the runs are explorations.
func (r *Result) Explored() bool { return len(r.Runs) > 0 && r.Runs[0].Exploration != nil }

// Setting is a parameter for people, empty where it is zero or not told. Those whose names end in
// _ns are durations.
func Setting(params map[string]any, name string) string {
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

// EndedByUser is the end of an interrupted run, in its history.
const EndedByUser = "interrupted"

package results

import (
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/lib/figures"
)

// A Label says which properties the name of a run needs to be unique among other runs, beside the
// design and the guard.
type Label struct {
	Workloads bool // the runs have different workloads
	// Clients and Keys are set if a design ran with several numbers of them, see
	// [Label.TellPoints].
	Clients, Keys bool
}

// TellPoints sets l.Clients and l.Keys if runs of one design, guard and workload in one session
// differ in their number of clients or keys. The runs of a session have the same seed.
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

// Point returns the name of the point of run, empty if no design ran at several points.
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

// Of returns the name of run.
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

// Locks returns the indexes of the runs of each lock, in the order of the first run of each. A lock
// here is a design with its guard and workload. Its runs are its points if r has several points;
// otherwise every run stands alone.
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

// Explored reports whether the runs of r are explorations.
func (r *Result) Explored() bool { return len(r.Runs) > 0 && r.Runs[0].Exploration != nil }

// Setting formats a workload parameter for people. It returns "" for a parameter that is zero or
// missing. A name that ends in _ns is of a duration in ns; a number below 1 is a share, formatted
// as a percentage.
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

// EndedByUser is the value of [RunRecord.Ended] for an interrupted run.
const EndedByUser = "interrupted"

package results

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/figures"
)

// A Label names a run as briefly as tells it from the others.
type Label struct {
	Workloads bool // they have different ones
	Points    bool // they are the points of a sweep
}

// Of is the name of run.
func (l Label) Of(run *Run) string {
	name := run.Design
	if guard := run.Guard(); guard != "" {
		name += " +" + guard
	}
	if l.Points {
		name += fmt.Sprintf(" (clients %v, keys %v)", run.Params["clients"], run.Params["keys"])
	}
	if l.Workloads && run.Workload != "" {
		name += " " + run.Workload
	}
	return name
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

// EndedByUser is what the history of a run says that was interrupted.
const EndedByUser = "interrupted"

package results

import (
	"github.com/lockbench/lockbench"
)

// Guard is how the store of the run protected itself, empty for not at all. Its name is
// that of the field of workloads.Options.
func (r *Run) Guard() string {
	if g := Setting(r.Params, "guard"); g != string(lockbench.NoGuard) {
		return g
	}
	return ""
}

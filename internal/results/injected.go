package results

import (
	"github.com/lockbench/lockbench/history"
)

// unmet lists the faults of the run that met nobody who held or acquired a lock:
// what they put to the test was not put to it.
func (r *Run) unmet() []history.FaultExposure {
	var found []history.FaultExposure
	for _, f := range r.Injected {
		if f.MetHeld+f.MetAcquire == 0 {
			found = append(found, f)
		}
	}
	return found
}

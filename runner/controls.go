package runner

import "github.com/lockbench/lockbench/impls/design"

// AddControls adds controls as the last subjects, for locks to be compared with: those that the
// workload has, and none where faults are injected, which are of locks.
func (p *Plan) AddControls(controls []design.Design) {
	if len(p.Faults) > 0 {
		return
	}
	for _, d := range controls {
		if d.Control != design.OneRequest || p.Workload.Atomic != nil {
			p.Subjects = append(p.Subjects, Subject{Design: d, Optional: true})
		}
	}
}

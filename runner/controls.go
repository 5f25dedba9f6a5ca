package runner

import "github.com/lockbench/lockbench/impls/design"

// AddControls appends controls as subjects that locks are compared with. It adds only the ones
// that the workload has, and none if faults are injected, because faults act on locks.
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

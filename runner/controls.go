package runner

import "github.com/lockbench/lockbench/impls/design"

// AddControls appends controls to the subjects; a control is not a lock, but locks are compared
// with it. It leaves out controls that the workload does not support, and adds none if faults are
// injected, because faults act on locks.
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

package runner

import "github.com/lockbench/lockbench/impls/design"

// AddControls appends controls to the subjects; a control is not a lock, but locks are compared
// with it. It leaves out controls that the workload or the service of the locks does not support, and
// adds none if faults are injected, because faults act on locks.
func (p *Plan) AddControls(controls []design.Design) {
	if len(p.Faults) > 0 {
		return
	}
	elsewhere := p.keeper() != nil
	for _, d := range controls {
		if d.Control != design.OneRequest || p.Workload.Atomic != nil && !elsewhere {
			p.Subjects = append(p.Subjects, Subject{Design: d, Optional: true})
		}
	}
}

// PlaceControls makes the work without a lock use the records of the service of the first lock, unless a lock
// stands on Redis or that service keeps no records.
func (p *Plan) PlaceControls() {
	on := p.keeper()
	for i, s := range p.Subjects {
		if s.Design.Control == design.NoLock {
			p.Subjects[i].Design.Backend = on
		}
	}
}

// keeper returns the service of the first lock, nil if a lock stands on Redis or that service keeps no records.
func (p *Plan) keeper() (on design.Backend) {
	for _, s := range p.Subjects {
		switch {
		case s.Design.Control != "":
		case s.Design.Backend == nil:
			return nil
		case on == nil:
			on = s.Design.Backend
		}
	}
	if on == nil {
		return nil
	}
	if _, keeps := on.Offers().(design.Keeper); !keeps {
		return nil
	}
	return on
}

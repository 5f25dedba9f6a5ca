package explore

import (
	"time"

	"github.com/lockbench/lockbench/internal/fault"
)

// skewClocks has s choose whose clock is off, process by process, before anything
// else: a skew lasts for the whole schedule. It returns false when s stops it.
func (w *world) skewClocks(s strategy) bool {
	for first := 0; w.left.faults > 0 && w.may(verbSkew) && w.skews && first < len(w.processes); {
		w.choices = append(w.choices[:0], choice{verb: verbBegin, actor: noActor})
		for p := first; p < len(w.processes); p++ {
			background := len(w.clients) + p
			for _, off := range []time.Duration{w.cfg.Skew, -w.cfg.Skew} {
				w.choices = append(w.choices, choice{verb: verbSkew, actor: background, at: off})
			}
		}
		i := s.choose(point{w.choices, w.steps})
		if i == stop {
			return false
		}
		c := w.choices[i]
		w.made = append(w.made, c)
		w.before(c)
		w.effect.reset(noActor, noActor)
		w.effect.global = true
		if c.verb == verbSkew {
			w.skew(c)
			first = c.actor - len(w.clients) + 1
		} else {
			first = len(w.processes)
		}
		s.took(&w.effect)
		w.note(c)
	}
	return true
}

// skew sets the clock of one process off.
func (w *world) skew(c choice) {
	p := w.processes[c.actor-len(w.clients)]
	w.left.faults--
	w.faults = append(w.faults, string(fault.Skew))
	p.skew = c.at
	for _, a := range w.clients {
		if a.process == p {
			a.record.Fault(string(fault.Skew), int64(c.at))
		}
	}
}

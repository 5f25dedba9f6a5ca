package explore

import (
	"time"

	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/fault"
)

// skewClocks lets s choose the processes with skewed clocks, one by one at the start, since a skew
// lasts for the whole schedule. It returns false if s ends the schedule.
func (w *world) skewClocks(s strategy.Chooser) bool {
	for first := 0; w.left.faults > 0 && w.may(strategy.VerbSkew) && w.skews && first < len(w.processes); {
		w.choices = append(w.choices[:0], strategy.Choice{Verb: strategy.VerbBegin, Actor: strategy.NoActor})
		for p := first; p < len(w.processes); p++ {
			background := len(w.clients) + p
			for _, off := range []time.Duration{w.cfg.Skew, -w.cfg.Skew} {
				w.choices = append(w.choices, strategy.Choice{Verb: strategy.VerbSkew, Actor: background, At: off})
			}
		}
		i := s.Choose(strategy.Point{Choices: w.choices, Steps: w.steps})
		if i == strategy.Stop {
			return false
		}
		c := w.choices[i]
		w.made = append(w.made, c)
		w.before(c)
		w.effect.Reset(strategy.NoActor, strategy.NoActor)
		w.effect.Global = true
		if c.Verb == strategy.VerbSkew {
			w.skew(c)
			first = c.Actor - len(w.clients) + 1
		} else {
			first = len(w.processes)
		}
		s.Took(&w.effect)
		w.note(c)
	}
	return true
}

// skew skews the clock of one process.
func (w *world) skew(c strategy.Choice) {
	p := w.processes[c.Actor-len(w.clients)]
	w.left.faults--
	w.faults = append(w.faults, string(fault.Skew))
	p.skew = c.At
	for _, a := range w.clients {
		if a.process == p {
			a.record.Fault(string(fault.Skew), int64(c.At))
		}
	}
}

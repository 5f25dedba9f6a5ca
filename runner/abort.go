package runner

import (
	"slices"

	"github.com/lockbench/lockbench/internal/measure/thresholds"
)

// abort returns a sink that watches the run of a design for its thresholds, and a channel that
// is closed as soon as the run is certain to fail one. Only thresholds on figures that never
// fall, and that have an upper bound, can be certain early; without such a threshold both
// results are zero.
func (s *session) abort(design string) (watch Sink, failed chan struct{}) {
	certain := slices.DeleteFunc(slices.Clone(s.abortOn), func(t thresholds.Threshold) bool {
		return !t.For(design) || !t.CanSettle()
	})
	if len(certain) == 0 {
		return Sink{}, nil
	}
	failed = make(chan struct{})
	over := false
	watch.SoFar = func(so Snapshot) {
		if over {
			return
		}
		verdicts := so.Verdicts()
		soFar := &thresholds.Run{Design: design, Verdicts: &verdicts, Measures: so.Measures()}
		for _, t := range certain {
			if outcome, found := t.Judge(soFar); outcome == thresholds.Failed && !over {
				over = true
				s.sink.say("%s is certain to fail %s: it is %s", design, t, t.Metric.Unit.Format(found.Value))
				close(failed)
			}
		}
	}
	return watch, failed
}

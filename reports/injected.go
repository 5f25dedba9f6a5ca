package reports

import "github.com/lockbench/lockbench/history"

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

// injected says how often each fault occurred and what it met, and which runs are
// inconclusive for one that met nothing.
func (t *terminal) injected() {
	heading := "faults: how often they occurred, and how often they met a held lock or, failing that, an acquire"
	for i := range t.result.Runs {
		run := &t.result.Runs[i]
		for _, f := range run.Injected {
			if heading != "" {
				t.printf("\n%s\n", t.bold(heading))
				heading = ""
			}
			t.printf("  %s  %s: occurred %s, %s held, %s acquiring%s\n", t.label.of(run), f.Fault,
				number(f.Occurrences), number(f.MetHeld), number(f.MetAcquire), t.remedy(f))
		}
	}
}

// remedy says what to do about a fault that met nothing.
func (t *terminal) remedy(f history.FaultExposure) string {
	switch {
	case f.MetHeld+f.MetAcquire > 0:
		return ""
	case f.Occurrences == 0:
		return "; " + t.warn("inconclusive") + ": it never occurred: raise --duration or --clients, or have it occur sooner"
	}
	return "; " + t.warn("inconclusive") + ": it met no lock: raise --clients, --hold or --duration"
}

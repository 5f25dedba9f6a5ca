package measure

import (
	"slices"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/series"
)

// A FaultLine has the times of the faults of one kind.
type FaultLine struct {
	// Note is the fault's name in histories: "pause" and "death", or the event's note.
	Note string
	// Occurrences counts them by their beginnings.
	Occurrences series.Counts
	// Periods are the times during which a lasting fault lasted, in order. If there were more
	// than 64, the nearest are joined.
	Periods []Period

	ongoing int   // number of current occurrences
	since   int64 // start of the first of these, in ns
}

// Count returns the number of occurrences.
func (f *FaultLine) Count() (n int64) {
	for _, in := range f.Occurrences.N {
		n += in
	}
	return n
}

// A Period is a part of a run, in ns since its start. To is never before From.
type Period struct{ From, To int64 }

const (
	maxPeriods = 64
	maxNotes   = 32 // kinds of faults that have a line of their own
	otherNote  = "other"
)

// event handles an event that a fault began or ended.
func (t *Timeline) event(op *history.Op) {
	switch op.Kind {
	case history.Death:
		t.resumed(op)
		t.line("death").Occurrences.Add(op.Call, 1)
	case history.Pause:
		if !t.paused[op.Client] {
			t.paused[op.Client] = true
			t.line("pause").begin(op.Call)
		}
	case history.Resume:
		t.resumed(op)
	case history.Fault:
		t.fault(op)
	}
}

// resumed ends the pause of a client, if it was paused.
func (t *Timeline) resumed(op *history.Op) {
	if t.paused[op.Client] {
		delete(t.paused, op.Client)
		t.line("pause").end(op.Call)
	}
}

// fault handles a fault event. Lasting faults have an event at either end of an occurrence, or
// one with a duration.
func (t *Timeline) fault(op *history.Op) {
	event := fault.EventOf(op.Note)
	switch event.Phase {
	case fault.Begins:
		t.line(event.Line).begin(op.Call)
		return
	case fault.Ends:
		t.line(event.Line).end(op.Call)
		return
	}
	line := t.line(op.Note)
	line.Occurrences.Add(op.Call, 1)
	if event.Phase == fault.Lasts && op.Value > 0 {
		line.add(Period{op.Call, op.Call + op.Value})
	}
}

// line returns the line of a note, and makes it if there is room.
func (t *Timeline) line(note string) *FaultLine {
	if len(t.Faults) >= maxNotes && !slices.ContainsFunc(t.Faults, func(f FaultLine) bool { return f.Note == note }) {
		note = otherNote
	}
	for i := range t.Faults {
		if t.Faults[i].Note == note {
			return &t.Faults[i]
		}
	}
	t.Faults = append(t.Faults, FaultLine{Note: note})
	return &t.Faults[len(t.Faults)-1]
}

func (f *FaultLine) begin(at int64) {
	f.Occurrences.Add(at, 1)
	if f.ongoing == 0 {
		f.since = at
	}
	f.ongoing++
}

// end handles the end of an occurrence. An end without a start is ignored: the record of the start
// may have been lost.
func (f *FaultLine) end(at int64) {
	if f.ongoing == 0 {
		return
	}
	if f.ongoing--; f.ongoing == 0 {
		f.add(Period{f.since, at})
	}
}

// close ends the current occurrences when the run stops.
func (t *Timeline) close(stop int64) {
	for i := range t.Faults {
		if f := &t.Faults[i]; f.ongoing > 0 {
			f.ongoing = 1
			f.end(max(stop, f.since))
		}
	}
}

// add adds a period, which must not begin before the one added last.
func (f *FaultLine) add(p Period) {
	if n := len(f.Periods); n > 0 && p.From <= f.Periods[n-1].To {
		f.Periods[n-1].To = max(f.Periods[n-1].To, p.To)
		return
	}
	f.Periods = append(f.Periods, p)
	if len(f.Periods) > maxPeriods {
		f.joinNearest()
	}
}

func (f *FaultLine) joinNearest() {
	nearest := 1
	for i := 1; i < len(f.Periods); i++ {
		if f.gap(i) < f.gap(nearest) {
			nearest = i
		}
	}
	f.Periods[nearest-1].To = f.Periods[nearest].To
	f.Periods = slices.Delete(f.Periods, nearest, nearest+1)
}

func (f *FaultLine) gap(i int) int64 { return f.Periods[i].From - f.Periods[i-1].To }

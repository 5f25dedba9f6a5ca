package clocks

import (
	"math/rand/v2"
	"sort"
	"time"
)

// A knot is an instant of a simulated machine: the true time, which is the coordinator's clock, and the readings
// of the machine's clocks, in ns.
type knot struct{ at, raw, mono, boot float64 }

// A machine has clocks with rates that change, within the limits of the package, and that jump.
type machine struct {
	knots    []knot
	readings []Reading
	probes   []Comparison
	changed  float64 // the time at which it was suspended or its clocks were changed; the end if never
}

// A world is one simulated history: machines, and owners of one key.
type world struct {
	*rand.Rand
	length   float64
	machines []*machine
	holds    []held
}

// A held is a hold with the true times of its start and end, on a machine.
type held struct {
	Hold
	machine    int
	start, end float64
}

const ms = float64(time.Millisecond)

// newWorld returns a history of a lock that grants the key again early by so much, in ns; zero is a sound lock.
func newWorld(seed uint64, early float64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 1))}
	w.length = ms * []float64{200, 1000, 5000, 30000}[w.IntN(4)]
	for range 2 + w.IntN(2) {
		w.machines = append(w.machines, w.machine())
	}
	w.own(early)
	return w
}

// among returns an extreme of a range half the time, so that bounds are tight, else a number in it.
func (w *world) among(least, most float64) float64 {
	switch w.IntN(4) {
	case 0:
		return least
	case 1:
		return most
	}
	return least + (most-least)*w.Float64()
}

func (w *world) machine() *machine {
	m := &machine{changed: w.length}
	now := knot{0, 1e9 * w.Float64(), 1e9 * w.Float64(), 1e9 * w.Float64()}
	m.knots = append(m.knots, now)
	change := -1
	if w.IntN(3) == 0 {
		change = w.IntN(8)
	}
	step := w.length / 8
	for i := range 8 {
		slew := 1.0
		if w.IntN(3) == 0 {
			slew = 1 / w.among(1-Slew, 1+Slew)
		}
		raw := step / w.among(1-Drift, 1+Drift)
		now.at, now.raw, now.mono, now.boot = now.at+step, now.raw+raw, now.mono+raw*slew, now.boot+raw*slew
		m.knots = append(m.knots, now)
		if i != change {
			continue
		}
		m.changed = now.at
		switch w.IntN(2) {
		case 0: // suspended: only the boot clock goes on
			asleep := ms * w.among(0.1, 100)
			now.at, now.boot = now.at+asleep, now.boot+asleep
		case 1: // moved to another host, whose clocks are far ahead
			now.raw, now.mono, now.boot = now.raw+1000*ms, now.mono+1000*ms, now.boot+1000*ms
		}
		m.knots = append(m.knots, now)
	}
	end := now.at
	gap := max(ms, w.length/2000) * (0.5 + w.Float64())
	for at := 0.0; at < end; at += gap {
		between := at + 1e3*w.among(0, 1)
		r := m.show(at)
		m.readings = append(m.readings, Reading{int64(r.mono), int64(m.show(between).raw), int64(m.show(between).boot), int64(m.show(between+1e3*w.among(0, 1)).mono) + 1})
	}
	pace := w.among(5*ms, 500*ms)
	for at := pace * w.Float64(); at < end; {
		there, back := w.delay(), w.delay()
		m.probes = append(m.probes, Comparison{int64(m.show(at).raw), int64(at + there), int64(m.show(at+there+back).raw) + 1})
		at += there + back + pace*w.Float64()
	}
	return m
}

// delay returns the time that a message takes.
func (w *world) delay() float64 {
	if w.IntN(4) == 0 {
		return 0
	}
	return 0.2 * ms * w.ExpFloat64()
}

// show returns what the clocks show at a time. At a jump, they show the end of it.
func (m *machine) show(at float64) knot {
	i := sort.Search(len(m.knots), func(i int) bool { return m.knots[i].at > at })
	i = min(max(i, 1), len(m.knots)-1)
	a, b := m.knots[i-1], m.knots[i]
	part := 0.0
	if b.at > a.at {
		part = (at - a.at) / (b.at - a.at)
	}
	return knot{at, a.raw + part*(b.raw-a.raw), a.mono + part*(b.mono-a.mono), a.boot + part*(b.boot-a.boot)}
}

// shows returns the first time at which the clock of stamps shows one.
func (m *machine) shows(stamp int64) float64 {
	i := sort.Search(len(m.knots), func(i int) bool { return m.knots[i].mono >= float64(stamp) })
	i = min(max(i, 1), len(m.knots)-1)
	a, b := m.knots[i-1], m.knots[i]
	if b.mono == a.mono {
		return a.at
	}
	return a.at + (float64(stamp)-a.mono)/(b.mono-a.mono)*(b.at-a.at)
}

// own lets owners on random machines hold the key, one after the other: each is granted it as soon as
// the one before has released it or its lease has ended by the server's clock, or early.
func (w *world) own(early float64) {
	lease := ms * w.among(5, 500)
	rate := 1 / w.among(1-Drift, 1+Drift) // of the server's clock
	for granted := ms * 10 * w.Float64(); granted < w.length; {
		i := w.IntN(len(w.machines))
		m := w.machines[i]
		called, returned := granted-w.delay(), granted+w.delay()
		expires := granted + lease/rate
		over := returned + ms*w.among(0, 3)*w.ExpFloat64() // it calls release
		h := held{machine: i, start: returned, Hold: Hold{Start: int64(m.show(returned).mono) + 1, Called: int64(m.show(called).mono), Lease: time.Duration(lease)}}
		h.End = min(h.Called+int64(lease), int64(m.show(over).mono))
		h.end = m.shows(h.End)
		if h.Start < h.End {
			w.holds = append(w.holds, h)
		}
		granted = max(min(over+w.delay(), expires)-early, granted+1e3)
		if w.IntN(2) == 0 { // nobody waits for it
			granted += w.length / 200 * w.Float64()
		}
	}
}

// windows returns the windows of the readings of a machine.
func (m *machine) windows() (all []Window) {
	var meter Meter
	add := func(w Window) { all = append(all, w) }
	for _, r := range m.readings {
		meter.Add(r, add)
	}
	if !meter.Changed {
		meter.End(add)
	}
	return all
}

// clocks returns the clocks of the machines.
func (w *world) clocks() (all []*Clock) {
	for _, m := range w.machines {
		all = append(all, NewClock(m.windows(), m.probes))
	}
	return all
}

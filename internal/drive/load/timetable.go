package load

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/workloads"
)

// A timetable has the time, since the start of the run, at which each arrival of an open loop is
// due. Equal options make equal timetables. It is not safe for concurrent use.
//
// The n-th arrival is due when the integral of the rate reaches n-1/2 (constant arrivals) or the
// sum of n unit exponentials (Poisson arrivals: a process of unit rate, with time scaled by the
// rate).
type timetable struct {
	ramps  []ramp
	ramp   int        // the slope of the last arrival
	due    int64      // of the last arrival, ns
	random *rand.Rand // nil: evenly spaced
	// integralReached is the integral of the rate at the next arrival.
	integralReached float64
	rate            float64
	share           runinfo.Share // next skips the arrivals that are not in it
	drawn           int64         // arrivals so far, of all shares
}

// A ramp is a part of the timetable in which the rate changes linearly.
type ramp struct {
	// start and length are in seconds; length is infinite for the last rate.
	start, length float64
	// from and to are the rates at its ends.
	from, to float64
	// integralBefore is the integral of the rate up to its start.
	integralBefore float64
}

// newTimetable returns the timetable of a share of an open loop ([workloads.Options.OpenLoop]) at its
// start. The options must be valid and have their defaults filled in.
func newTimetable(o *workloads.Options, share runinfo.Share) *timetable {
	a := &timetable{ramps: ramps(o), share: share}
	if o.Arrival == workloads.Poisson {
		key := [32]byte{31: 'a'} // sets it apart from the clients' choices
		binary.LittleEndian.PutUint64(key[:], o.Seed)
		a.random = rand.New(rand.NewChaCha8(key))
	}
	a.integralReached = a.step(0.5)
	return a
}

// ramps returns the parts of the timetable, in order.
func ramps(o *workloads.Options) []ramp {
	if len(o.Stages) == 0 {
		return []ramp{{length: math.Inf(1), from: o.Rate, to: o.Rate}}
	}
	var all []ramp
	s := ramp{to: o.Rate}
	for _, stage := range o.Stages {
		s = ramp{
			start: s.start + s.length, length: stage.Duration.Seconds(),
			from: s.to, to: stage.Rate, integralBefore: s.end(),
		}
		all = append(all, s)
	}
	return all
}

// end returns the integral of the rate up to the end of s.
func (s ramp) end() float64 { return s.integralBefore + s.length*(s.from+s.to)/2 }

// step returns the growth of the integral up to the next arrival; even is the value for evenly
// spaced arrivals.
func (a *timetable) step(even float64) float64 {
	if a.random == nil {
		return even
	}
	return a.random.ExpFloat64()
}

// next returns the time at which the next arrival is due, not before the last one; false if there
// are no more.
func (a *timetable) next() (due time.Duration, ok bool) {
	for {
		due, ok = a.any()
		if mine := a.share.Has(a.drawn - 1); mine || !ok {
			return due, ok
		}
	}
}

// any is next for all shares.
func (a *timetable) any() (due time.Duration, ok bool) {
	for a.integralReached > a.ramps[a.ramp].end() {
		if a.ramp == len(a.ramps)-1 {
			return 0, false
		}
		a.ramp++
	}
	at, rate := a.ramps[a.ramp].reach(a.integralReached)
	a.due = max(a.due, nanoseconds(at))
	a.rate = rate
	a.integralReached += a.step(1)
	a.drawn++
	return time.Duration(a.due), true
}

// reach returns the time at which the integral of the rate reaches n, in seconds since the
// start, and the rate at that time.
func (s ramp) reach(n float64) (at, rate float64) {
	n -= s.integralBefore
	if s.from == s.to {
		return s.start + n/s.from, s.from
	}
	// from*x + bend*x*x/2 = n, by the root that is also stable if bend or from is small.
	bend := (s.to - s.from) / s.length
	rate = math.Sqrt(max(0, s.from*s.from+2*bend*n))
	return s.start + min(s.length, 2*n/(s.from+rate)), rate
}

// nanoseconds converts seconds to ns, at most half of the largest time.Duration, so that
// sums do not overflow.
func nanoseconds(s float64) int64 { return int64(math.Round(min(s*1e9, math.MaxInt64/2))) }

// interval returns the mean time between arrivals of the share at the time of the last one. It is very
// long if the rate has fallen to zero.
func (a *timetable) interval() time.Duration {
	return time.Duration(nanoseconds(float64(max(1, a.share.Of)) / a.rate))
}

// maxCounted bounds the arrivals that are drawn in order to count them.
const maxCounted = 1 << 20

// count counts the arrivals from the next one up to and including end, and consumes them.
// Above a million it returns the mean number.
func (a *timetable) count(end time.Duration) (n int64) {
	for range maxCounted {
		if due, ok := a.next(); !ok || due > end {
			return n
		}
		n++
	}
	return n + a.share.Count(int64(max(0, a.integral(end.Seconds())-a.integralReached)))
}

// integral returns the integral of the rate up to second t.
func (a *timetable) integral(t float64) float64 {
	for _, s := range a.ramps {
		if x := t - s.start; x < s.length {
			return s.integralBefore + x*s.from + x*x*(s.to-s.from)/(2*s.length)
		}
	}
	return a.ramps[len(a.ramps)-1].end()
}

package measure

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Op is a kind of latency.
type Op uint8

// Kinds of latencies, in the order of reports.
const (
	Acquire Op = iota // acquires that were granted a new hold: intended start to return
	Service           // the same acquires: call to return
	Lag               // acquires that had an intended start, however they ended: from there to the call
	Refused           // acquires that were refused: intended start to return
	Release           // releases that returned, whatever the answer
	Extend            // extends that returned, whatever the answer
	Handoff           // call of a release to the return of the next grant, if its client was waiting
	Hold              // return of a grant to the call of its last release
	// LossNotice is for superseded owners: from the return of the next owner's grant until the
	// earlier owner is told, by a notice or by the answer to a release or an extend; zero if it was
	// told before.
	LossNotice
	// LeftTaken is for acquires without an answer on a free key: from the return of the first of
	// them to the latest refusal of the key to other clients or, if a waiter is granted the key
	// after its first attempt, to its last one.
	LeftTaken
	numOps
)

var opNames = [numOps]string{"acquire", "service", "lag", "refused", "release", "extend", "handoff", "hold", "loss_notice", "left_taken"}

// String returns the name under which results show op.
func (op Op) String() string { return opNames[op] }

// Ops lists all kinds.
func Ops() []Op {
	return []Op{Acquire, Service, Lag, Refused, Release, Extend, Handoff, Hold, LossNotice, LeftTaken}
}

// The range of a histogram in ns, and its relative precision of 0.1 %. The top is longer than any
// lease in the documents; durations beyond it are counted.
const (
	lowest  = 1
	highest = int64(6 * time.Hour)
	digits  = 3
)

// A Latency is a distribution of durations. It is not safe for concurrent use
// while values are recorded.
type Latency struct {
	// OutOfRange counts durations that the histogram cannot hold: below zero or
	// longer than six hours. They are in no percentile.
	OutOfRange int64

	values *hdrhistogram.Histogram
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(lowest, highest, digits) }

// record adds a duration, and reports whether it was in range.
func (l *Latency) record(ns int64) bool {
	if l.values == nil {
		l.values = newHistogram()
	}
	if ns < 0 || ns > highest || l.values.RecordValue(ns) != nil {
		l.OutOfRange++
		return false
	}
	return true
}

// seen reports whether there were any durations, in range or not.
func (l *Latency) seen() bool { return l.values != nil }

// Count returns the number of durations in the percentiles.
func (l *Latency) Count() int64 {
	if l.values == nil {
		return 0
	}
	return l.values.TotalCount()
}

// At returns the duration that the given percentile (0 to 100) of all durations did not exceed,
// zero if there are none.
func (l *Latency) At(percentile float64) time.Duration {
	if l.values == nil {
		return 0
	}
	return time.Duration(l.values.ValueAtPercentile(percentile))
}

// Max returns the longest duration, zero if there are none.
func (l *Latency) Max() time.Duration {
	if l.values == nil {
		return 0
	}
	return time.Duration(l.values.Max())
}

// Histogram returns the distribution in ns, for files and merging; nil if there are no durations.
// Callers must not change it.
func (l *Latency) Histogram() *hdrhistogram.Histogram { return l.values }

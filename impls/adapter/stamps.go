package adapter

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// monotonicClock is the clock of a hello, CLOCK_MONOTONIC of Linux, which all processes read.
const monotonicClock = "monotonic"

// stampRange is the number of values of now_ns, a reading of a clock modulo this number.
const stampRange = 1 << 53

// A clock has an instant of lockbench and the reading of CLOCK_MONOTONIC within some ns after it. Go's
// monotonic readings are of that clock, from a zero that Go does not tell.
type clock struct {
	at      time.Time
	reading int64
	within  time.Duration
}

// readClock reads both, several times, and returns the best.
func readClock() (best clock, err error) {
	const times = 10
	for i := range times {
		at := time.Now()
		reading, err := monotonic()
		if err != nil {
			return best, err
		}
		if within := time.Since(at); i == 0 || within < best.within {
			best = clock{at, reading, within}
		}
	}
	return best, nil
}

// around returns instants before and after a reading.
func (c clock) around(reading int64) (before, after time.Time) {
	before = c.at.Add(time.Duration(reading - c.reading))
	return before, before.Add(c.within)
}

// readingAt returns the reading at an instant.
func (c clock) readingAt(t time.Time) int64 { return c.reading + int64(t.Sub(c.at)) }

// since returns c with the reading zero at the hello of a program, which read now after its greeting and before
// the arrival of its hello.
func (c clock) since(now int64, greeted, arrived time.Time) (clock, error) {
	last := c.readingAt(arrived)
	reading := last - (last-now)&(stampRange-1)
	if _, after := c.around(reading); now < 0 || after.Before(greeted) {
		return c, fmt.Errorf("now_ns %d is no time of CLOCK_MONOTONIC between its greeting and its hello, %d to %d; hint: a reading in ns, modulo 2^53, in the hello; a container may have a clock of its own: --stamps driver", now, (last-int64(arrived.Sub(greeted)))%stampRange, last%stampRange)
	}
	c.reading -= reading
	return c, nil
}

// ran returns instants between which the request of an answer ran. They lie between the sending of the request
// and the reading of the answer, or the error says that the stamps do not.
func (c clock) ran(a answer, sent, read time.Time) (from, to time.Time, err error) {
	from, begun := c.around(a.CallNS)
	ended, to := c.around(a.ReturnNS)
	if a.CallNS > a.ReturnNS || begun.Before(sent) || ended.After(read) {
		return from, to, fmt.Errorf("the answer to request %d says call_ns %d and return_ns %d, not between the times at which the request was sent and the answer read, %d and %d; hint: readings of CLOCK_MONOTONIC before and after the call, from the hello on; or --stamps driver", a.ID, a.CallNS, a.ReturnNS, c.readingAt(sent), c.readingAt(read))
	}
	if from.Before(sent) {
		from = sent
	}
	if to.After(read) {
		to = read
	}
	return from, to, nil
}

// stampable returns an error if the times of an adapter cannot be its own.
func (h *Hello) stampable() error {
	if _, err := monotonic(); err != nil {
		return err
	}
	if h.Clock != monotonicClock {
		return fmt.Errorf("its hello does not say clock %s, so its times are not known; hint: --stamps driver, or a kit that stamps", monotonicClock)
	}
	if h.has(Lost) {
		return errors.New("its hello says lost, and reports of losses have no stamps; hint: --stamps driver")
	}
	return nil
}

// widths has by how much the driver's times of the last requests are wider than the adapter's own.
type widths struct {
	mu   sync.Mutex
	last [1 << 10]time.Duration
	n    int
}

func (w *widths) add(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[w.n%len(w.last)] = d
	w.n++
}

// Widths implements [design.Stamped].
func (p *process) Widths() (driver bool, widths []time.Duration) {
	p.widths.mu.Lock()
	defer p.widths.mu.Unlock()
	return !p.set.Stamps, slices.Clone(p.widths.last[:min(p.widths.n, len(p.widths.last))])
}

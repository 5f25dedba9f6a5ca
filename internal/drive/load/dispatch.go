package load

import (
	"context"
	"runtime"
	"time"

	"github.com/lockbench/lockbench/internal/lib/processor"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/workloads"
)

// A dispatcher hands the arrivals of an open loop to clients. One idle client at a time has the
// turn: the client that has been idle longest. It takes the next arrival, waits until the arrival
// is due, and passes the turn on. So no other goroutine delays an arrival. If no client is idle,
// the next client to become idle gets the turn, and begins the overdue arrivals late.
//
// Its methods are safe for concurrent use, except for begin and finish.
type dispatcher struct {
	// turn has a value while no client has the turn. Its receivers queue in order.
	turn chan struct{}
	over <-chan struct{}

	// The client that has the turn owns the fields below.
	timetable *timetable
	remaining int64 // arrivals that may still be taken; negative for no limit
	start     time.Time
	warmupEnd time.Time // when the warm-up ends
	due       time.Time // time of the next arrival, if it was drawn
	drawn     bool
	clock     clock
	kept      runinfo.Arrivals
	// idleSince is the time since which some client has been idle, lastTaken the time at which an
	// arrival was last taken.
	idleSince, lastTaken time.Time
	firstMeasured        time.Time     // time of the first arrival after the warm-up
	warmupCPU            time.Duration // processor time until firstMeasured
}

// A clock waits for instants.
type clock interface {
	wait(due time.Time)
	close()
}

// newDispatcher returns a dispatcher of the arrivals in a share that uses clock c; its timetable has not
// begun. finish closes the clock.
func newDispatcher(o workloads.Options, share runinfo.Share, over <-chan struct{}, c clock) *dispatcher {
	d := &dispatcher{
		turn: make(chan struct{}, 1), over: over,
		timetable: newTimetable(&o, share), remaining: -1, clock: c,
	}
	if o.Operations > 0 {
		d.remaining = share.Count(o.Operations)
	}
	return d
}

// begin starts the timetable now.
func (d *dispatcher) begin(warm time.Time) {
	d.start, d.warmupEnd = time.Now(), warm
	d.turn <- struct{}{}
}

// next waits until the client's next arrival is due, and returns that instant. ok is false if there
// is no arrival for the client: the run is over, ctx has ended or, if done is set, all arrivals
// were taken.
func (d *dispatcher) next(ctx context.Context) (due time.Time, done, ok bool) {
	idle := time.Now()
	select {
	case <-d.turn:
	default:
		select {
		case <-d.turn:
		case <-d.over:
			return due, false, false
		case <-ctx.Done():
			return due, false, false
		}
	}
	defer func() { d.turn <- struct{}{} }()
	if d.remaining == 0 {
		return due, true, false
	}
	if !d.draw() {
		d.awaitEnd(ctx) // the stages have ended before the run
		return due, false, false
	}
	if !d.await(ctx) {
		return due, false, false
	}
	d.take(idle)
	return d.due, false, true
}

// draw draws the next arrival, unless one is drawn and not yet taken.
func (d *dispatcher) draw() bool {
	if d.drawn {
		return true
	}
	offset, more := d.timetable.next()
	d.due, d.drawn = d.start.Add(offset), more
	return more
}

// preciseWait is the last part of a wait, which is precise but does not notice the end of the run.
const preciseWait = 10 * time.Millisecond

// await waits until the next arrival is due. It returns false if the run is over or ctx has
// ended before that.
func (d *dispatcher) await(ctx context.Context) bool {
	if long := time.Until(d.due) - preciseWait; long > 0 {
		timer := time.NewTimer(long)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-d.over:
			return false
		case <-ctx.Done():
			return false
		}
	}
	d.clock.wait(d.due)
	select {
	case <-d.over:
		return false
	default:
		return ctx.Err() == nil
	}
}

func (d *dispatcher) awaitEnd(ctx context.Context) {
	select {
	case <-d.over:
	case <-ctx.Done():
	}
}

// minLateness is the least delay of an idle client that counts as late. On a machine that does
// other things, too, timers and the scheduler cause shorter delays.
const minLateness = 10 * time.Millisecond

// take takes the arrival that is due for a client that has been idle since idle, and accounts for
// its delay. The lock, which kept all clients busy, causes the delay up to the moment at which some
// client was idle; the machine causes the rest.
func (d *dispatcher) take(idle time.Time) {
	d.drawn = false
	d.remaining--
	now := time.Now()
	if idle.After(d.lastTaken) {
		d.idleSince = idle // all clients were busy from the last arrival until then
	}
	d.lastTaken = now
	if !d.due.Before(d.warmupEnd) {
		d.kept.Due++
	}
	if !now.Before(d.warmupEnd) {
		d.account(now)
	}
}

func (d *dispatcher) account(now time.Time) {
	k := &d.kept
	if k.Started == 0 {
		d.firstMeasured = now
		d.warmupCPU, _ = processor.Used()
	}
	k.Started++
	ready := d.due
	if d.idleSince.After(ready) {
		ready = d.idleSince
	}
	k.BusyNS += int64(ready.Sub(d.due))
	woke := now.Sub(ready)
	k.WakingNS += int64(woke)
	k.WakingMaxNS = max(k.WakingMaxNS, int64(woke))
	if woke > max(minLateness, d.timetable.interval()/2) {
		k.Overslept++
	}
}

// finish counts the arrivals that were due by end and that no client took. No client may
// call next any more.
func (d *dispatcher) finish(end time.Time) *runinfo.Arrivals {
	<-d.turn
	d.clock.close()
	k := &d.kept
	if d.remaining != 0 && d.draw() && !d.due.After(end) {
		k.BehindNS = int64(end.Sub(d.due))
		d.missed(end)
	}
	if used, err := processor.Used(); err == nil && k.Started > 0 {
		processors := end.Sub(d.firstMeasured).Seconds() * float64(runtime.GOMAXPROCS(0))
		k.Processor = (used - d.warmupCPU).Seconds() / processors
	}
	return k
}

// missed counts the arrivals from the next one up to end.
func (d *dispatcher) missed(end time.Time) {
	early := int64(0)
	if d.due.Before(d.warmupEnd) {
		early = 1 + d.timetable.count(d.warmupEnd.Sub(d.start))
	}
	late := 1 + d.timetable.count(end.Sub(d.start))
	if d.remaining > 0 {
		late = min(late, d.remaining-early)
	}
	d.kept.Waiting = early + late
	d.kept.Due += late
}

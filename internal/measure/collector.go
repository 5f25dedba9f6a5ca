package measure

import (
	"maps"
	"slices"
	"time"

	"github.com/lockbench/lockbench/history"
)

// A Collector computes the Measures of one history from its events. Its memory grows only
// with the keys and the holds that are open at one time. It is not safe for concurrent use.
type Collector struct {
	warmup  int64
	header  history.Header
	nesting bool  // a second acquire by the holder adds a level to be released
	last    int64 // latest stamp seen
	granted int64 // return of the latest grant
	// answered counts the acquires in the measured part that had an intended start.
	answered  int64
	m         Measures
	open      map[int64]hold
	forgetAt  int // number of open holds at which the oldest are forgotten
	keys      map[string]*keyState
	leftovers int // number of keys with a leftover
	updates   map[string]*updates
	errors    errorCount
	observe   func(Op, time.Duration)
}

// hold is a grant that has not been released.
type hold struct {
	client       int32
	granted      int64
	depth        int32
	supersededAt int64 // return of the next grant to another owner; NoStamp if there is none
}

// keyState has the owner of a key, and the time since which the key is free.
type keyState struct {
	holder   int64
	released int64 // call of the release; 0 before the first grant, NoStamp while the key is held
	leftover leftover
}

// New returns a Collector for the history that h opens.
func New(h history.Header) *Collector {
	c := &Collector{
		warmup:  h.WarmupNS,
		header:  h,
		nesting: h.Reacquire == "nested",
		open:    make(map[int64]hold),
		keys:    make(map[string]*keyState),
		updates: make(map[string]*updates),
	}
	c.errors.faults = len(h.Faults) > 0
	c.m.Warmup.Name = "warm-up"
	c.m.Measured.Name = "measured"
	c.m.Timeline.paused = make(map[int32]bool)
	return c
}

// Add adds the next event, in the order of [history.Source].
func (c *Collector) Add(ev history.Event) {
	op := ev.Op
	c.errors.add(ev)
	if c.header.Stalls(op.Client) {
		switch {
		case ev.Phase == history.Return:
			c.accessed(op)
		case ev.Phase == history.Call && op.Kind >= history.Death:
			c.m.Timeline.event(op)
		}
		return
	}
	c.m.Timeline.add(ev)
	switch ev.Phase {
	case history.Call:
		c.last = max(c.last, op.Call)
		c.called(op)
	case history.Return:
		c.last = max(c.last, op.Return)
		c.returned(op)
	case history.Cut:
		c.last = max(c.last, op.Call)
	}
}

// Observe registers a function that is called with each duration that Add measures from now
// on, warm-up included, for callers with distributions of their own. Durations out of range
// are left out. Call Observe before the first Add; f is called from within Add.
func (c *Collector) Observe(f func(Op, time.Duration)) { c.observe = f }

// SoFar returns the counts and latencies so far. Rates are zero, and the next Add changes
// the result.
func (c *Collector) SoFar() *Measures { return &c.m }

// Result returns the figures of all events. Call it once, at the end.
func (c *Collector) Result(end history.End) Measures {
	m := &c.m
	stop := end.Trailer.EndNS
	if end.Partial || stop == 0 {
		stop = c.last
	}
	// A waiting client may still be granted the lock when the run stops; that grant is
	// counted, so its time belongs to the span.
	stop = max(stop, c.granted)
	m.Span = time.Duration(max(0, stop-c.warmup))
	m.Timeline.close(stop)
	m.Arrivals, m.Business = c.arrivals(end), end.Trailer.Business
	m.Errors = c.errors.result()
	m.GrantsPerSecond = ratio(float64(m.Measured.Grants), m.Span.Seconds())
	m.AttemptsPerGrant = ratio(float64(m.Measured.Attempts), float64(m.Measured.Grants))
	all := m.Warmup.Grants + m.Measured.Grants
	m.CommandsPerGrant = ratio(float64(end.Trailer.Commands), float64(all))
	if t := end.Trailer.Traffic; t != nil {
		m.Sent, m.Received, m.Connections = costOf(t.Sent, all), costOf(t.Received, all), t.Connections
	}
	if cpu := end.Trailer.ServerCPUNS; cpu != nil {
		m.ServerCPU = costOf(*cpu, m.Measured.Grants)
	}
	return *m
}

func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}

func (c *Collector) record(p *Phase, op Op, ns int64) {
	if p.latencies[op].record(ns) && c.observe != nil {
		c.observe(op, time.Duration(ns))
	}
}

func (c *Collector) phase(stamp int64) *Phase {
	if stamp < c.warmup {
		return &c.m.Warmup
	}
	return &c.m.Measured
}

// called handles the call of an operation. The key counts as free from the call of its release on.
// An operation that never returns is counted here.
func (c *Collector) called(op *history.Op) {
	switch op.Kind {
	case history.Release:
		c.release(op)
	case history.Acquire:
		if c.leftovers > 0 && op.Outcome == history.OK {
			c.key(op.Key).leftover.overwritten = true
		}
	case history.Lost:
		c.lossNotice(op, op.Call)
	case history.Death: // it will not release its holds
		maps.DeleteFunc(c.open, func(_ int64, h hold) bool { return h.client == op.Client })
	}
	if op.Return == history.Never && isLockOp(op.Kind) {
		p := c.phase(op.Call)
		c.count(p, op)
		c.lagged(p, op)
	}
}

// start returns the start of an operation's latency: the intended start if it has one, so that the
// delay of a late call counts, too, else the call.
func start(op *history.Op) int64 {
	if op.Intended != 0 {
		return op.Intended
	}
	return op.Call
}

// lagged records the delay between the intended start and the call of an acquire.
func (c *Collector) lagged(p *Phase, op *history.Op) {
	if op.Intended != 0 {
		c.record(p, Lag, op.Call-op.Intended)
		if op.Return != history.Never && op.Return >= c.warmup {
			c.answered++
		}
	}
}

func (c *Collector) returned(op *history.Op) {
	c.accessed(op)
	if !isLockOp(op.Kind) {
		return
	}
	p := c.phase(op.Return)
	took := op.Return - start(op)
	c.lagged(p, op)
	switch {
	case op.Kind == history.Release:
		c.record(p, Release, took)
	case op.Kind == history.Extend:
		c.record(p, Extend, took)
		c.lossNotice(op, op.Return)
	case op.Outcome == history.OK:
		c.grant(p, op)
	case op.Outcome == history.Refused:
		c.record(p, Refused, took)
		if c.leftovers > 0 {
			c.key(op.Key).leftover.refused(op)
		}
	case op.Outcome == history.Unknown:
		c.acquireUnknown(c.key(op.Key), op)
	}
	c.count(p, op)
}

func (c *Collector) count(p *Phase, op *history.Op) {
	p.Attempts += int64(op.Attempts)
	switch op.Outcome {
	case history.Unknown:
		p.Unknown++
	case history.Refused:
		p.Refused++
	case history.LossReported:
		p.Lost++
	case history.Failed:
		p.Failed++
	}
}

// grant records a successful acquire: a new hold, or one more level of an open one.
func (c *Collector) grant(p *Phase, op *history.Op) {
	if h, again := c.open[op.Hold]; again {
		p.Nested++
		if c.nesting {
			h.depth++
			c.open[op.Hold] = h
		}
		return
	}
	p.Grants++
	c.m.Timeline.granted(op)
	c.record(p, Acquire, op.Return-start(op))
	if op.Intended != 0 {
		c.record(p, Service, op.Return-op.Call)
	}
	c.granted = max(c.granted, op.Return)
	if op.Hold != 0 {
		c.forget()
		c.open[op.Hold] = hold{client: op.Client, granted: op.Return, depth: 1, supersededAt: history.NoStamp}
	}
	k := c.key(op.Key)
	c.supersede(k, op)
	c.clearLeftover(p, k, op)
	if op.Call < k.released && k.released != history.NoStamp {
		c.record(p, Handoff, op.Return-k.released)
	}
	k.holder, k.released = op.Hold, history.NoStamp
}

// key returns the state of a key.
func (c *Collector) key(name string) *keyState {
	k := c.keys[name]
	if k == nil {
		k = &keyState{}
		c.keys[name] = k
	}
	return k
}

// maxOpen bounds the open holds of a client that are remembered if there are many in all. Holds
// that were lost without notice, or had a failed release, would pile up.
const maxOpen = 64

// forget occasionally forgets all but each client's newest open holds.
func (c *Collector) forget() {
	if len(c.open) < max(c.forgetAt, 1<<12) {
		return
	}
	granted := map[int32][]int64{}
	for _, h := range c.open {
		granted[h.client] = append(granted[h.client], h.granted)
	}
	for client, at := range granted {
		slices.Sort(at)
		granted[client] = at[max(0, len(at)-maxOpen):]
	}
	maps.DeleteFunc(c.open, func(_ int64, h hold) bool { return h.granted < granted[h.client][0] })
	c.forgetAt = 2 * len(c.open)
}

// release handles the call of a release. Only the release of the last level ends a hold. Only a
// release by the key's owner makes the next grant a hand-off: neither a late release by a
// superseded owner nor a release with a delay does.
func (c *Collector) release(op *history.Op) {
	if op.Outcome == history.Failed {
		return
	}
	h, known := c.open[op.Hold]
	if known && h.depth > 1 {
		h.depth--
		c.open[op.Hold] = h
		return
	}
	if known {
		c.recordLossNotice(h, op, op.Return)
		delete(c.open, op.Hold)
		c.record(c.phase(op.Call), Hold, op.Call-h.granted)
	}
	k := c.keys[op.Key]
	if k != nil && k.holder == op.Hold && op.Outcome == history.OK && !op.Late && op.Delay == 0 {
		k.released = op.Call
	}
}

func isLockOp(k history.Kind) bool {
	return k == history.Acquire || k == history.Release || k == history.Extend
}

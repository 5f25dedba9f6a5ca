package checker

import (
	"maps"
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// What the notes of history.Fault events say. A fault with a client strikes what
// that client has under way. What was struck has had its effect by its return, or
// by its client's death, unless a late fault says otherwise.
const (
	lostReply   = "lost-reply"   // a command ran, its answer never came
	cutOff      = "cut"          // the connection broke
	cancelled   = "cancel"       // the context of the call ended
	ranLate     = "late"         // a command ran after the call that sent it had ended
	takenAway   = "taken-away"   // what Client held of Key was taken on the server, by client Value
	scriptFlush = "script-flush" // the server forgot its scripts
	restarted   = "restart"      // the server forgot everything
	evicting    = "evicting"     // the server begins to forget keys that have a TTL
	evicted     = "evict"        // the server forgot every key that has a TTL, by now
	stepping    = "stepping"     // the clock of the server begins to be stepped by Value ns
	clockStep   = "clock-step"   // it was
	failedOver  = "failover"     // a replica that may not know the newest took over
	clockSkew   = "skew"         // the client's clock is ahead by Value ns
)

// faults are those that befell the history, and what each client has under way.
type faults struct {
	clients map[int32]*client
	near    *[nearClients]*client // some of them, by the end of their ids
	dead    []int32               // those that died, the newest last
	// flush, stateLost and failedOver are the newest events of their kind, nil while there
	// is none, and restart the newer of the last two.
	flush, restart, stateLost, failedOver *history.Op

	forgetting bool  // the server goes on forgetting keys
	flushMet   bool  // the flush met a held lock or an operation under way
	errors     bool  // an operation ended in an error of no known class before any flush
	skew       int64 // the largest offset of a clock, in ns
	offset     int64 // how far the server's clock was stepped ahead, in ns
	// struck are the conditions that have occurred, but for Outlived.
	struck lockbench.Conditions
}

// nearClients is for how many clients no map is asked, a power of two.
const nearClients = 256

// A client is what is known of one owner besides its holds.
type client struct {
	known   bool // false: memory to be used again
	id      int32
	process int32
	flying  []*history.Op // under way
	last    *history.Op   // the last of its calls that returned
	// acquiring is its newest acquire, and beside the shortest lease that something
	// on an earlier hold, under way at the same time, may set after it.
	acquiring *history.Op
	beside    int64
	dead      bool
	paused    stamp // the last time that it was
	still     bool  // it is now
}

// client returns the one with this id.
func (f *faults) client(id int32) *client {
	near := &f.near[id&(nearClients-1)]
	if cl := *near; cl != nil && cl.id == id && cl.known {
		return cl
	}
	cl := f.clients[id]
	if cl == nil {
		cl = &client{}
		f.clients[id] = cl
	}
	*near = cl
	if !cl.known {
		*cl = client{known: true, id: id, flying: cl.flying[:0], paused: stamp{t: -1}, beside: math.MaxInt64}
	}
	return cl
}

// keptFlying bounds how many operations a client has under way: those that never
// return would gather.
const keptFlying = 16

func (c *Checker) departs(op *history.Op) {
	cl := c.faults.client(op.Client)
	if c.faulty() && op.Key != "" {
		owner := op.Client
		if cl.dead { // it is renewed for, in a process that lives on
			owner = theDead
		}
		c.key(op.Key).asked.raise(owner, wanted(op))
	}
	cl.process = op.Process
	if len(cl.flying) == keptFlying {
		cl.flying = slices.Delete(cl.flying, 0, 1)
	}
	cl.flying = append(cl.flying, op)
}

func (f *faults) arrives(op *history.Op) {
	cl := f.client(op.Client)
	if op.Kind != history.Renew {
		cl.last = op
	}
	if i := slices.Index(cl.flying, op); i >= 0 {
		cl.flying = slices.Delete(cl.flying, i, i+1)
	}
}

// livesOn tells whether the process of client, which died, has others that did not.
func (f *faults) livesOn(id int32) bool {
	died := f.clients[id]
	for other, cl := range f.clients {
		if died != nil && cl.known && other != id && !cl.dead && cl.process == died.process {
			return true
		}
	}
	return false
}

// faulty tells whether faults may befall the history.
func (c *Checker) faulty() bool { return len(c.header.Faults) > 0 || c.faults.struck != 0 }

// faulted applies a fault event.
func (c *Checker) faulted(op *history.Op) {
	f := &c.faults
	switch op.Note {
	case lostReply, cutOff:
		f.struck |= lockbench.LostReply
		c.strikeClient(lockbench.LostReply, op)
	case cancelled:
		f.struck |= lockbench.Cancel
		c.strikeClient(lockbench.Cancel, op)
	case ranLate:
		c.late(op)
	case takenAway:
		c.takenAway(op)
	case scriptFlush:
		f.struck |= lockbench.ScriptFlush
		f.flush, f.flushMet = op, f.flushMet || c.anythingOpen()
		c.eachOpen(func(_ *key, h *hold) { h.under |= lockbench.ScriptFlush })
	case restarted, evicted, evicting:
		c.forgot(op, lockbench.StateLoss)
		f.forgetting = op.Note == evicting
	case failedOver:
		c.forgot(op, lockbench.Failover)
		c.revived(op)
	case stepping, clockStep:
		c.stepped(op)
	case clockSkew:
		c.setOff(op.Value)
	}
}

// setOff applies that a clock is ahead by offset ns.
func (c *Checker) setOff(offset int64) {
	c.faults.struck |= lockbench.Skew
	c.faults.skew = max(c.faults.skew, offset, -offset)
	for _, k := range c.keys {
		k.refusal.slack = c.slack()
	}
}

// anythingOpen tells whether a lock is held or an operation under way.
func (c *Checker) anythingOpen() bool {
	open := false
	c.eachOpen(func(*key, *hold) { open = true })
	for _, cl := range c.faults.clients {
		open = open || cl.known && len(cl.flying) > 0
	}
	return open
}

// eachOpen applies f to every hold that was not released.
func (c *Checker) eachOpen(f func(*key, *hold)) {
	for _, k := range c.keys {
		for _, h := range k.holds {
			if !h.released {
				f(k, h)
			}
		}
	}
}

// strikeClient has fault strike the call that its client has under way or, when
// there is none, its renewals. What happens in the background of a process has no
// client: renewals then.
func (c *Checker) strikeClient(cause lockbench.Conditions, fault *history.Op) {
	if fault.Client < 0 {
		for _, id := range slices.Sorted(maps.Keys(c.faults.clients)) {
			if cl := c.faults.clients[id]; cl.known && cl.process == fault.Process {
				c.strikeRenewals(cause, fault, cl)
			}
		}
		return
	}
	cl := c.faults.client(fault.Client)
	for _, op := range slices.Backward(cl.flying) {
		if op.Kind != history.Renew {
			c.strike(cause, fault, op)
			return
		}
	}
	c.strikeRenewals(cause, fault, cl)
}

func (c *Checker) strikeRenewals(cause lockbench.Conditions, fault *history.Op, cl *client) {
	for _, op := range cl.flying {
		if op.Kind == history.Renew {
			c.strike(cause, fault, op)
		}
	}
}

// died applies the death of a client: it strikes what the client held and what it
// had under way.
func (c *Checker) died(op *history.Op) {
	cl := c.faults.client(op.Client)
	cl.dead = true
	for _, under := range cl.flying {
		c.strike(died, op, under)
	}
	clear(cl.flying)
	cl.flying = cl.flying[:0]
	cl.last, cl.acquiring = copied(cl.last), copied(cl.acquiring)
	c.each(op.Client, func(k *key, h *hold) {
		h.close(callOf(op), "death", true)
		h.dead = true
		h.under |= died
		k.cuts++
		if h.unseen {
			h.widest = max(h.widest, after(op.Call, h.most)) // the last renewal
		}
	})
	for _, k := range c.keys {
		for h := range k.known() {
			if h.client == op.Client && h.leftBehind(op.Call, k.refusal.slack) {
				k.struckBy(strike{cause: died, fault: op, op: h.ops[0], h: h, bounded: true})
			}
		}
	}
	c.faults.struck |= c.deathOf(op.Client)
	c.bury(op.Client)
}

// copied is op apart from the chunk that it came in, which is not to be kept for as long.
func copied(op *history.Op) *history.Op {
	if op == nil {
		return nil
	}
	kept := *op
	return &kept
}

// leftBehind tells whether the owner of h, who died at t, may have left it on the
// server: he had neither lost it nor given it up for certain.
func (h *hold) leftBehind(t, slack int64) bool {
	lost := h.supersededAt != forever || h.told || h.certain
	return h.known && !lost && (!h.released || h.latest(slack) >= t)
}

// late applies that a command of a client ran although the call that sent it had
// ended: it belongs to what a fault struck before or, when nothing was, to the
// client's last call, which then had timed out.
func (c *Checker) late(fault *history.Op) {
	causes := lockbench.Conditions(0)
	for _, k := range c.keys {
		causes |= c.lateStrikes(k, fault)
		if longest, ok := c.longestAsked(k, fault.Client); ok { // whichever of its calls it came from
			k.refusal.keep(after(after(fault.Call, longest), k.refusal.slack))
			k.refusal.stirred++
		}
	}
	if cl := c.faults.clients[fault.Client]; causes == 0 && cl != nil && cl.known && cl.last != nil {
		c.strike(lockbench.Cancel, fault, cl.last)
	}
	if causes == 0 {
		causes = lockbench.Cancel
	}
	for _, k := range c.keys {
		for _, h := range k.holds {
			h.stray = h.stray || h.client != fault.Client
			h.under |= causes
		}
	}
}

// lateStrikes applies a late fault to what was struck of its client, and returns what
// that was.
func (c *Checker) lateStrikes(k *key, fault *history.Op) (causes lockbench.Conditions) {
	for i := range k.struck {
		x := &k.struck[i]
		if x.op.Client != fault.Client && (fault.Client >= 0 || x.op.Process != fault.Process) {
			continue
		}
		causes |= c.resolved(x.cause, x.op.Client)
		x.until, x.over = later(x.until, callOf(fault)), false
		if x.bounded {
			c.bound(k, x.op, callOf(fault))
		}
	}
	return causes
}

// forgot applies that the server forgot grants given by then, all of them for all that
// is known.
func (c *Checker) forgot(op *history.Op, cause lockbench.Conditions) {
	f := &c.faults
	f.struck |= cause
	for _, k := range c.sorted() { // what began before it was not touched by it
		c.settle(k, callOf(op))
	}
	f.restart = op
	if cause == lockbench.Failover {
		f.failedOver = op
	} else {
		f.stateLost = op
	}
	for _, k := range c.keys {
		k.delayed = nil
		k.fences.forget(callOf(op), cause)
		for h := range k.known() {
			h.under |= cause
		}
	}
}

// revived applies that the server may have forgotten releases, too: what was given up
// by then may be there again for as long as the longest lease that was asked for.
func (c *Checker) revived(op *history.Op) {
	for _, k := range c.keys {
		k.refusal.keep(after(after(op.Call, k.asked.highest()), k.refusal.slack))
	}
}

// stepped applies that the server's clock was, or is about to be, stepped. What was
// granted by then may end too early, if it went ahead: the server forgets it, at any
// time from now on. If it went back, that may last longer. And as long as the clock is
// off all clients' clocks are, for a lock that asks them.
func (c *Checker) stepped(op *history.Op) {
	f := &c.faults
	if op.Value > 0 {
		c.forgot(op, lockbench.StateLoss)
		f.forgetting = op.Note == stepping
	}
	ahead := f.offset + op.Value
	if op.Note == clockStep {
		f.offset = ahead
	}
	c.setOff(ahead)
	if op.Value < 0 {
		for _, k := range c.keys { // numbers taken from the clock begin anew
			k.fences.forget(callOf(op), lockbench.StateLoss)
		}
		c.revived(op)
	}
}

// scriptError judges the answer to op, where the server forgot its scripts before
// it: the lock is to load them again and go on.
func (c *Checker) scriptError(k *key, op *history.Op) {
	f := &c.faults
	forgot := f.flush != nil || f.restart != nil
	switch {
	case op.Note == "noscript" && forgot && !k.moot(op):
	case op.Note == "error" && f.flush == nil:
		f.errors = true
		return
	case op.Note == "error" && !f.errors && !k.wasStruck(op) && op.Kind != history.Renew && !outlasted(op):
	case op.Outcome == history.OK && f.flush != nil && f.flushMet:
		c.expose(answers, lockbench.ScriptFlush)
		return
	default:
		return
	}
	shown, under := []*history.Op{op}, lockbench.ScriptFlush
	if f.flush != nil {
		shown = append(shown, f.flush)
	}
	if op.Note != "noscript" { // which would prove this one alone
		under |= c.faults.lasting() | c.answering(op)
	}
	c.violate(candidate{kind: scriptMissing, key: k, ops: shown, under: under})
}

// outlasted tells whether acquire op took so long that what it was granted meanwhile was
// over: it fails for that, whatever its scripts do.
func outlasted(op *history.Op) bool {
	return op.Kind == history.Acquire && op.Asked > 0 && op.Return-op.Call >= op.Asked
}

// moot tells whether op is a renewal that did nothing, of a hold that its owner has
// released meanwhile: there was nothing left to renew.
func (k *key) moot(op *history.Op) bool {
	h := k.find(op.Hold)
	return op.Kind == history.Renew && op.Outcome == history.Failed && (h == nil || h.released)
}

// takenAway judges what was seen on the server itself: a command of a client took
// away what another held. Its owner may not notice before its lease is over, and
// nobody else come meanwhile.
func (c *Checker) takenAway(fault *history.Op) {
	k := c.key(fault.Key)
	victim := k.find(fault.Hold)
	if victim == nil || !victim.known || !victim.coreAt(callOf(fault)) {
		return
	}
	for _, op := range c.faults.client(int32(fault.Value)).flying {
		h := k.find(op.Hold)
		strays := op.Kind == history.Release || op.Kind == history.Extend || op.Kind == history.Renew
		if !strays || op.Key != fault.Key || h == nil || h.client == victim.client || !h.granted.before(victim.granted) {
			continue
		}
		under := c.touching(victim, h) | h.outlivedAt(callOf(fault))
		c.expose(ownerRelease, under)
		c.violate(candidate{kind: takenOnServer, key: k, ops: []*history.Op{op, victim.ops[0], fault}, under: under})
		return
	}
}

// slack is what is added to a lease before a key counts as free, in ns.
func (c *Checker) slack() int64 {
	return int64(refusalSlack) + c.header.ToleranceNS + 2*c.faults.skew
}

package checker

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// tick is the simulator's unit of time: refusalSlack is ten of them, so that
// leases, delays and the slack are of one order.
const tick = int64(refusalSlack) / 10

// A mutation is a fault built into the simulated lock.
type mutation string

const (
	sound           mutation = "sound"
	plainDelete     mutation = "a release deletes whatever is there"
	extendAny       mutation = "an extend ignores the owner"
	earlyExpiry     mutation = "a lease ends a tick early"
	innerFrees      mutation = "an inner release frees"
	refusesOwn      mutation = "the holder's nested acquire is refused"
	shortensNested  mutation = "a nested acquire sets the lease"
	falseLoss       mutation = "an extend of a held lock is answered lost"
	falseNotice     mutation = "Lost closes on a held lock"
	okWhenLost      mutation = "a release of a lost lock is answered ok"
	emptyExtend     mutation = "an extend is answered ok and does nothing"
	delayIgnored    mutation = "the delay of a release is ignored"
	flatFence       mutation = "a fence does not rise"
	spuriousRefusal mutation = "a free key is refused"
	doubleGrant     mutation = "a held key is granted"
	sleepsOn        mutation = "a waiter sleeps until its wait is over"
	locksAnew       mutation = "a refresh of a lost lock takes it anew and says so to nobody"
)

// A lockServer is a correct lease lock on one key, unless mutated. Each grant has a token
// of its own; a lease ends at a random instant that the specification allows.
type lockServer struct {
	*rand.Rand
	fault mutation
	kind  string // meaning of a second acquire: refused, nested or refreshed
	// identity means that the token is the owner's identity, the same for all its grants.
	identity bool
	faulted  bool // the mutation made a difference

	owner  int32 // 0: free
	token  int64
	levels int
	until  int64 // the lease ends here, in ticks
	// promised is the proper end of the lease, if the mutation cut it short.
	promised int64
	wronged  wrong
	// since is the time of the request that acts now, and cutSince of the one that cut the
	// lease short.
	since, cutSince int64
	ttl             int64 // the longest lease requested by the owner
	// relets means that an inner release begins the lease anew.
	relets bool
	closed int64 // a release asked to let nobody in before
	// offsets are how far the clocks of clients are ahead, in ticks.
	offsets map[int32]int64
	flushed bool // scripts are gone
	tokens  int64
	// released are dead clients: their holds without a lease end with their sessions.
	gone map[int32]bool
	// forgetful means that it forgets in a restart, an eviction or a failover.
	forgetful bool
	wedged    bool // a hold never ends, whatever the owner does
	// refreshing: the acquire is by a client that believes that it holds the key. tells:
	// if it does not hold the key, it is told so; untold: one client was not.
	refreshing, tells, untold bool
	fence                     uint64
}

// A grant is the server's answer to an acquire: token 0 is a refusal.
type grant struct {
	token int64
	fence uint64
	lost  bool  // not granted, because the hold to refresh is lost
	over  wrong // without the mutation, this one would hold the key
}

// expire frees the key when its lease is over at now.
func (s *lockServer) expire(now int64) {
	if s.owner != 0 && s.until <= now && !s.wedged {
		s.wronged = wrong{s.owner, s.promised, s.cutSince}
		s.owner = 0
	}
}

// leaseEnd draws the end of a lease asked for at asked and given at now: from
// asked + ttl on, and within the slack. Zero is no lease.
func (s *lockServer) leaseEnd(client int32, asked, now, ttl int64) int64 {
	switch {
	case ttl == 0 && s.gone[client]:
		return s.sessionEnd(now)
	case ttl == 0:
		return math.MaxInt64
	}
	if s.fault == earlyExpiry && s.IntN(2) == 0 {
		s.promised = asked + ttl
		return asked + ttl - 1 - s.Int64N(ttl)
	}
	s.promised = 0
	switch s.IntN(3) {
	case 0:
		return asked + ttl
	case 1:
		return now + ttl
	}
	return asked + ttl + s.Int64N(now-asked+10)
}

// sessionEnd draws the time at which a dead client's hold without a lease is free.
func (s *lockServer) sessionEnd(now int64) int64 { return now + s.Int64N(10) }

// dies ends the session of a client.
func (s *lockServer) dies(client int32, now int64) {
	s.gone[client] = true
	if s.owner == client && s.until == math.MaxInt64 {
		s.until = s.sessionEnd(now)
	}
}

// acquire acts on a try of client sent at asked.
func (s *lockServer) acquire(client int32, asked, now, ttl int64) grant {
	s.expire(now)
	s.faulted = s.faulted || s.owner == 0 && now < s.promised
	anew := s.kind == "refreshed" && s.refreshing && s.owner == 0
	s.untold = s.untold || anew
	s.faulted = s.faulted || anew && s.fault == locksAnew
	switch {
	case anew && s.tells:
		return grant{lost: true}
	case s.owner == 0 && (now < s.closed || s.applies(spuriousRefusal, 3)):
		return grant{}
	case s.owner == 0, s.owner != client && (s.applies(doubleGrant, 4) || s.looksOver(client, now)):
		s.ttl = ttl
		return s.take(client, now, s.leaseEnd(client, asked, now, ttl))
	case s.owner != client || s.kind == "refused" || s.applies(refusesOwn, 3):
		return grant{}
	case s.kind == "refreshed":
		s.token, s.until = s.newToken(client), s.leaseEnd(client, now, now, ttl)
	default:
		s.levels++
		s.ttl = max(s.ttl, ttl)
		end := s.leaseEnd(client, asked, now, ttl)
		if end >= s.until || !s.applies(shortensNested, 1) {
			end = max(end, s.until)
		}
		s.shortened(end)
	}
	return grant{token: s.token, fence: s.fence}
}

func (s *lockServer) newToken(client int32) int64 {
	s.tokens++
	if s.identity {
		return -int64(client)
	}
	return s.tokens
}

// take grants the key to client, even if another holds it.
func (s *lockServer) take(client int32, now, until int64) grant {
	if s.owner != 0 {
		s.robbed()
	}
	over := s.wronged
	s.cutSince = math.MaxInt64
	if over.client == client || over.until <= now {
		over = wrong{}
	}
	s.wronged = wrong{}
	s.owner, s.token, s.levels, s.until, s.wedged = client, s.newToken(client), 1, until, false
	if !s.applies(flatFence, 3) {
		s.fence++
	}
	return grant{token: s.token, fence: s.fence, over: over}
}

// applies reports whether the fault applies here, once in n times.
func (s *lockServer) applies(fault mutation, n int) bool {
	if s.fault != fault || s.IntN(n) != 0 {
		return false
	}
	s.faulted = true
	return true
}

// release acts on a release of the grant with token.
func (s *lockServer) release(token, now, delay int64) history.Outcome {
	s.expire(now)
	mine := s.owner != 0 && s.token == token
	switch {
	case s.owner != 0 && !mine && s.applies(plainDelete, 1):
		s.robbed()
		return history.OK
	case !mine && s.applies(okWhenLost, 2):
		return history.OK
	case !mine:
		return history.LossReported
	}
	if s.wedged {
		return history.OK
	}
	if s.levels--; s.levels > 0 && !s.applies(innerFrees, 1) {
		if s.relets && s.ttl > 0 {
			s.until = max(s.until, now+s.ttl)
		}
		return history.OK
	}
	s.owner, s.promised = 0, 0
	if delay > 0 && !s.applies(delayIgnored, 1) {
		s.closed = now + delay + s.Int64N(10)
	}
	return history.OK
}

// extend acts on an extend of the grant with token. Unlike a grant's, its lease counts
// from now: a late one must not shorten a later one's lease.
func (s *lockServer) extend(token, now, ttl int64) history.Outcome {
	s.expire(now)
	mine := s.owner != 0 && s.token == token
	switch {
	case s.owner != 0 && !mine && s.applies(extendAny, 1):
		mine = true
	case mine && s.applies(falseLoss, 3):
		mine = false
	case mine && s.applies(emptyExtend, 2):
		s.promised = now + ttl
		return history.OK
	}
	if !mine {
		return history.LossReported
	}
	end := s.leaseEnd(s.owner, now, now, ttl)
	if s.token == token {
		s.until = end
	} else {
		s.shortened(end)
	}
	return history.OK
}

// notices reports whether the owner of token would be told now that it lost it.
func (s *lockServer) notices(token, now int64) bool {
	s.expire(now)
	return s.owner == 0 || s.token != token || s.applies(falseNotice, 2)
}

// A world runs clients and server in virtual time, one event after the other.
type world struct {
	*rand.Rand
	plan   simPlan
	server lockServer
	now    int64
	agenda []happening
	ops    []*history.Op
	stamps uint64

	clients          []*simClient
	overlaps         []overlap
	forgot           int64  // the time at which the server last forgot its state
	version, written uint64 // the guarded record's, and the newest made
	floor            uint64 // the highest fence the store has seen
}

type happening struct {
	at int64
	do func()
}

// later schedules do in d ticks; calls at one instant run in random order.
func (w *world) later(d int64, do func()) {
	i := 0
	for i < len(w.agenda) && (w.agenda[i].at < w.now+d || w.agenda[i].at == w.now+d && w.IntN(2) == 0) {
		i++
	}
	w.agenda = slices.Insert(w.agenda, i, happening{w.now + d, do})
}

func (w *world) run() {
	for len(w.agenda) > 0 {
		next := w.agenda[0]
		w.agenda = w.agenda[1:]
		w.now = next.at
		next.do()
	}
}

// stamp is now, in ns and numbered if the plan says so.
func (w *world) stamp() interval.Stamp {
	if !w.plan.numbered {
		return interval.Stamp{T: w.now * tick}
	}
	w.stamps++
	return interval.Stamp{T: w.now * tick, Seq: w.stamps}
}

// An answer is the result of a request as far as its sender knows.
type answer int

const (
	arrived answer = iota
	failed         // certainly not sent
	silent         // timed out: it may act, now or later
	falsely        // told ok, whatever the server answered
)

// transmit sends a request: act runs at the server, unless the request is lost, and reply
// when its sender knows the result. inTime requests do not arrive after that.
func (w *world) transmit(act func(), reply func(answer), inTime bool) {
	there, back := w.latency(), w.latency()
	if w.IntN(100) >= w.plan.loss {
		w.later(there, func() {
			act()
			w.later(back, func() { reply(arrived) })
		})
		return
	}
	switch n := w.IntN(4); {
	case n == 0:
		w.later(there, func() { reply(failed) })
		return
	case n == 1: // never arrives
	case n == 2 || inTime:
		w.later(there, act)
	default: // arrives late
		w.later(there+w.Int64N(60), act)
	}
	w.later(there+back+w.Int64N(3), func() { reply(silent) })
}

// latency is the latency of one way, in ticks: mostly short, sometimes longer than a
// lease.
func (w *world) latency() int64 {
	if w.IntN(12) == 0 {
		return w.Int64N(20)
	}
	return w.Int64N(3)
}

package stepserver

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/lockbench/lockbench/internal/explore/stepserver/script"
)

// Canonicalise sets how Fingerprint sees values, fields, keys, channels and the
// arguments of commands: two texts that canonical maps to the same text must be
// interchangeable, like random tokens of the same client. canonical must not call the
// server. Nil, as at the start, changes nothing.
func (s *Server) Canonicalise(canonical func(text string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.canonical = canonical
}

// Fingerprint hashes all state of the server that future replies depend on: keys,
// values and remaining TTLs, the known scripts, and for each connection the selected
// database, the open transaction, its watched keys and whether they are intact, its
// subscriptions, waits and pending commands. It is the same in every process.
//
// Two states with the same fingerprint answer the same commands with the same replies,
// up to Canonicalise, if the same time passes, on three conditions. The clients must
// not depend on the time of day: otherwise compare only states of the same virtual
// time. Hidden must be false: it stays true for ever after a command with a reply that
// depends on state that is not hashed, and then states that were taken for equal
// before may not have been. And no two states may collide in 64 bits. States with
// streams, HyperLogLogs or TTLs of hash fields are never equal to any other.
func (s *Server) Fingerprint() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redis.setTime(time.Now())
	p := &print{canonical: s.canonical}
	p.Reset()
	for _, db := range slices.Sorted(maps.Keys(s.redis.used)) {
		p.database(db, s.redis)
	}
	p.scripts(&s.scripts)
	for _, c := range s.conns {
		p.conn(s, c)
	}
	for _, q := range s.blocked {
		p.number(q.Process, q.Conn)
		p.until(s, q.until)
		p.strings(q.Args...)
		p.strings(q.pinned...)
	}
	if p.unseen || s.unseen {
		p.number(int(unequal.Add(1)))
	}
	return p.Sum64()
}

// unequal counts the states that are not to be equal to any other.
var unequal atomic.Uint64

// Hidden reports whether, since New, a command was run with a reply that depends on
// state which Fingerprint cannot see: OBJECT, or one that draws at random.
func (s *Server) Hidden() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hidden
}

// A print is an unfinished fingerprint. Each part is written with its length, so that
// no two sequences of parts look the same.
type print struct {
	xxhash.Digest
	canonical func(string) string
	unseen    bool
}

func (p *print) number(numbers ...int) {
	var b [8]byte
	for _, n := range numbers {
		for i := range b {
			b[i] = byte(n >> (8 * i))
		}
		_, _ = p.Write(b[:])
	}
}

func (p *print) strings(texts ...string) {
	p.number(len(texts))
	for _, t := range texts {
		if p.canonical != nil {
			t = p.canonical(t)
		}
		p.number(len(t))
		_, _ = p.WriteString(t)
	}
}

func (p *print) flags(flags ...bool) {
	for _, f := range flags {
		if f {
			p.number(1)
		} else {
			p.number(0)
		}
	}
}

func (p *print) until(s *Server, t time.Time) {
	if t.IsZero() {
		p.number(-1)
		return
	}
	p.number(int(t.Sub(s.redis.now)))
}

// database adds the keys of one database. They are in the order of their names as they
// are, not as they are made comparable: keys are not random.
func (p *print) database(db int, in *store) {
	keys := in.redis.DB(db)
	names := keys.Keys()
	if len(names) == 0 {
		return
	}
	p.number(db, len(names))
	for _, name := range names {
		kind := keys.Type(name)
		p.strings(name, kind)
		p.number(int(keys.TTL(name)))
		p.value(in, db, kind, name)
	}
}

// value adds the value of a key; the errors are for a wrong type.
func (p *print) value(in *store, db int, kind, name string) {
	keys := in.redis.DB(db)
	switch kind {
	case "string":
		v, _ := keys.Get(name)
		p.strings(v)
	case "hash":
		fields, _ := keys.HKeys(name)
		for _, f := range p.sorted(fields) {
			p.strings(f, keys.HGet(name, f))
		}
		p.number(len(fields))
	case "list":
		items, _ := keys.List(name)
		p.strings(items...)
	case "set":
		members, _ := keys.Members(name)
		p.strings(p.sorted(members)...)
	case "zset":
		p.scores(keys.SortedSet(name))
	default:
		p.unseen = true
	}
}

// sorted orders random texts by their canonical form, so that the order does not
// depend on the draw.
func (p *print) sorted(texts []string) []string {
	texts = slices.Clone(texts)
	slices.SortStableFunc(texts, func(a, b string) int {
		if p.canonical == nil {
			return cmp.Compare(a, b)
		}
		return cmp.Or(cmp.Compare(p.canonical(a), p.canonical(b)), cmp.Compare(a, b))
	})
	return texts
}

func (p *print) scores(scores map[string]float64, _ error) {
	members := p.sorted(slices.Collect(maps.Keys(scores)))
	p.strings(members...)
	for _, m := range members {
		p.strings(strconv.FormatFloat(scores[m], 'g', -1, 64))
	}
}

func (p *print) scripts(s *scripts) {
	shas := slices.Sorted(maps.Keys(s.cached))
	p.strings(shas...)
	if s.vm != nil {
		p.number(int(s.vm.State()))
	} else {
		p.number(int(script.FirstState))
	}
}

// conn adds the server's state of a connection, unless it is idle.
func (p *print) conn(s *Server, c *conn) {
	if c.idle() {
		return
	}
	p.number(c.process, c.number, c.db, len(c.queue))
	p.flags(c.tx != nil, c.block != nil, c.unanswered, c.crashed, c.closed, c.peer.Resp3)
	p.strings(c.peer.ClientName, c.requests.rest)
	p.strings(c.channels...)
	p.strings(c.patterns...)
	for _, name := range slices.Sorted(maps.Keys(c.watched)) {
		w := c.watched[name]
		p.strings(name)
		p.flags(w.existed, s.intact(w, name))
	}
	if c.tx != nil {
		p.flags(c.tx.dirty)
		for _, args := range c.tx.queued {
			p.strings(args...)
		}
	}
	for _, q := range c.queue {
		p.strings(q.Args...)
		p.strings(string(q.reply))
	}
}

// idle reports whether nothing tells the connection from a new one.
func (c *conn) idle() bool {
	return c.db == 0 && len(c.queue) == 0 && c.tx == nil && c.block == nil && len(c.watched) == 0 && c.listening() == 0 &&
		c.peer.ClientName == "" && !c.peer.Resp3 && c.requests.rest == "" && !c.unanswered && !c.crashed
}

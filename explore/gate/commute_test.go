package gate_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/explore/gate"
)

var pairs = flag.Int("pairs", 2000, "how many pairs of commands to take in both orders")

// templates are commands to draw from: {k} is a key, {v} a value, {f} a field, {n} a
// small number, {c} a channel, {s} a script and {h} its SHA.
var templates = strings.Split(strings.TrimSpace(`
get {k}
set {k} {v}
set {k} {v} nx px 5000
set {k} {v} xx keepttl
set {k} {v} get
set {k} {v} nx get
setnx {k} {v}
setex {k} {n} {v}
getset {k} {v}
getdel {k}
getex {k}
getex {k} persist
getex {k} px 700
append {k} {v}
strlen {k}
incr {k}
decrby {k} {n}
setrange {k} 1 {v}
setrange {k} 0 ""
setbit {k} 3 1
bitop or {k} {k} {k}
mset {k} {v} {k} {v}
msetnx {k} {v} {k} {v}
mget {k} {k}
del {k}
del {k} {k}
unlink {k}
exists {k} {k}
type {k}
touch {k}
expire {k} {n}
expire {k} -1
pexpire {k} 900
pexpire {k} 800 gt
pexpire {k} 800 nx
expireat {k} 1
persist {k}
ttl {k}
pttl {k}
rename {k} {k}
renamenx {k} {k}
copy {k} {k}
copy {k} {k} replace
hset {k} {f} {v}
hsetnx {k} {f} {v}
hget {k} {f}
hgetall {k}
hdel {k} {f}
hdel {k} {f} {f}
hincrby {k} {f} {n}
hexists {k} {f}
hlen {k}
lpush {k} {v}
rpush {k} {v} {v}
lpushx {k} {v}
lpop {k}
rpop {k} {n}
llen {k}
lrange {k} 0 -1
lrem {k} 0 {v}
lset {k} 0 {v}
ltrim {k} 0 0
linsert {k} before {v} {v}
rpoplpush {k} {k}
lmove {k} {k} left right
lmpop 2 {k} {k} left
sadd {k} {v} {v}
srem {k} {v}
scard {k}
smembers {k}
sismember {k} {v}
smove {k} {k} {v}
sunionstore {k} {k} {k}
sinterstore {k} {k} {k}
sinter {k} {k}
zadd {k} {n} {v}
zadd {k} nx {n} {v}
zadd {k} xx {n} {v}
zincrby {k} {n} {v}
zrem {k} {v}
zpopmin {k}
zrange {k} 0 -1
zscore {k} {v}
zremrangebyscore {k} 0 {n}
zunionstore {k} 2 {k} {k}
zmpop 1 {k} min
keys *
dbsize
flushall
select 1
select 0
swapdb 0 1
move {k} 1
subscribe {c}
unsubscribe {c}
psubscribe {c}*
punsubscribe
publish {c} {v}
pubsub channels
pubsub numsub {c}
blpop {k} {k} 0
brpop {k} {n}
brpoplpush {k} {k} 0
blmove {k} {k} left left 0
bzpopmin {k} 0
script load {s}
script exists {h}
script flush
evalsha {h} 1 {k} {v}
eval {s} 1 {k} {v}
watch {k}
watch {k} {k}
unwatch
`), "\n")

var commuteScripts = []string{
	`return 1`,
	`return redis.call('get',KEYS[1])`,
	`return redis.call('set',KEYS[1],ARGV[1],'nx') or false`,
	`if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) end return 0`,
	`redis.call('incr',KEYS[1]) return redis.call('nope')`,
	`redis.call('publish','c1',ARGV[1]) return redis.pcall('lpush',KEYS[1],ARGV[1])`,
	`redis.call('set','b',ARGV[1]) return redis.call('pttl',KEYS[1])`,
}

// draw makes a command; a transaction is several.
func draw(r *rand.Rand) [][]string {
	if r.IntN(12) == 0 {
		all := [][]string{{"multi"}}
		for range 1 + r.IntN(3) {
			all = append(all, drawOne(r))
		}
		return append(all, []string{"exec"})
	}
	return [][]string{drawOne(r)}
}

func drawOne(r *rand.Rand) []string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	args := strings.Split(pick(templates...), " ")
	for i, a := range args {
		switch a {
		case "{k}":
			args[i] = pick("a", "b", "c")
		case "{v}":
			args[i] = pick("1", "2", "x")
		case "{f}":
			args[i] = pick("f", "g")
		case "{n}":
			args[i] = strconv.Itoa(1 + r.IntN(3))
		case "{c}", "{c}*":
			args[i] = pick("c1", "c2") + a[3:]
		case "{s}":
			args[i] = pick(commuteScripts...)
		case "{h}":
			args[i] = sha(pick(commuteScripts...))
		case `""`:
			args[i] = ""
		}
	}
	return args
}

// A table is a server with some processes of one connection each.
type table struct {
	t      *testing.T
	server *gate.Server
	conns  []net.Conn
}

func newTable(t *testing.T, processes int) *table {
	s, err := gate.New()
	if err != nil {
		t.Fatal(err)
	}
	b := &table{t: t, server: s}
	for p := range processes {
		c, err := s.Dial(p)
		if err != nil {
			t.Fatal(err)
		}
		b.conns = append(b.conns, c)
	}
	return b
}

// send puts commands at the gate.
func (b *table) send(process int, commands [][]string) {
	for _, args := range commands {
		if err := (raw{conn: b.conns[process]}).send(args); err != nil {
			b.t.Fatal(err)
		}
	}
}

// run runs what the process has at the gate, and reports whether there was something.
func (b *table) run(process int) (gate.Effect, bool) {
	for _, c := range b.server.Pending() {
		if c.Process == process {
			return b.server.Run(c), true
		}
	}
	return gate.Effect{}, false
}

// heard is what every process was answered and can read now.
func (b *table) heard() (all []string) {
	for _, c := range b.conns {
		var text []byte
		buf := make([]byte, 4096)
		c.SetReadDeadline(time.Now())
		for {
			n, err := c.Read(buf)
			text = append(text, buf[:n]...)
			if err != nil {
				break
			}
		}
		all = append(all, string(text))
	}
	return all
}

// waits reports whether the process is in a blocking command.
func (b *table) waits(process int) bool {
	return slices.ContainsFunc(b.server.Blocked(), func(c *gate.Command) bool { return c.Process == process })
}

// TestIndependentStepsCommute takes two steps in both orders: when their effects say
// that they are independent, replies, messages and the state after them are the same.
func TestIndependentStepsCommute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		independent := 0
		for seed := range uint64(*pairs) {
			if commute(t, seed) {
				independent++
			}
		}
		t.Logf("%d of %d pairs were independent", independent, *pairs)
		if independent < *pairs/10 {
			t.Errorf("%d of %d pairs were independent, want a tenth to have tested something", independent, *pairs)
		}
	})
}

func commute(t *testing.T, seed uint64) (independent bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	var prefix [][][]string
	for range 3 + r.IntN(12) {
		prefix = append(prefix, draw(r))
	}
	a, b := draw(r), draw(r)
	type outcome struct {
		effects [2]gate.Effect
		heard   []string
		print   uint64
	}
	var got [2]outcome
	for order := range got {
		w := newTable(t, 3)
		defer w.server.Close()
		for i, commands := range prefix {
			if !w.waits(i % 3) {
				w.send(i%3, commands)
				w.run(i % 3)
			}
		}
		if w.waits(0) || w.waits(1) {
			return false
		}
		w.send(0, a)
		w.send(1, b)
		for i := range 2 {
			process := (i + order) % 2
			e, ok := w.run(process)
			if !ok {
				return false // it passes the gate
			}
			got[order].effects[process] = e
		}
		got[order].heard, got[order].print = w.heard(), w.server.Fingerprint()
	}
	x, y := got[0], got[1]
	if !x.effects[0].Independent(x.effects[1]) {
		return false
	}
	replies := func(o outcome) []string { return []string{o.effects[0].Reply, o.effects[1].Reply} }
	same := slices.Equal(replies(x), replies(y)) && slices.Equal(x.heard, y.heard) && x.print == y.print
	if !same {
		t.Errorf("seed %d: after %q\n%q and %q are said to be independent: effects %+v\nreplies %q, in the other order %q\nheard %q, %q\nstate %x, %x",
			seed, prefix, a, b, x.effects, replies(x), replies(y), x.heard, y.heard, x.print, y.print)
	}
	return true
}

// TestEffectsNameWhatChanged compares every key before and after each command.
func TestEffectsNameWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(*pairs / 20) {
			r := rand.New(rand.NewPCG(seed, 2))
			w := newTable(t, 3)
			before := w.contents()
			for range 25 {
				process := r.IntN(2)
				if w.waits(process) {
					continue
				}
				commands := draw(r)
				w.send(process, commands)
				e, _ := w.run(process)
				after := w.contents()
				for key, content := range after {
					if content != before[key] && !slices.Contains(e.Writes, key) && !slices.Contains(e.Writes, gate.Everything) {
						t.Errorf("seed %d: %q changed %q from %q to %q, but says %+v", seed, commands, key, before[key], content, e)
					}
				}
				before = after
			}
			w.server.Close()
		}
	})
}

// contents are the keys of both databases, named as in effects.
func (b *table) contents() map[string]string {
	all := map[string]string{}
	for db, prefix := range []string{"", "\x001/"} {
		b.ask("select", strconv.Itoa(db))
		for _, key := range []string{"a", "b", "c"} {
			text := b.ask("type", key) + b.ask("pttl", key)
			for _, ask := range []string{"get %s", "hgetall %s", "lrange %s 0 -1", "smembers %s", "zrange %s 0 -1 withscores"} {
				if reply := b.ask(strings.Split(fmt.Sprintf(ask, key), " ")...); !strings.HasPrefix(reply, "-") {
					text += reply
				}
			}
			all[prefix+key] = text
		}
	}
	return all
}

// ask runs a command of the last process and returns the reply.
func (b *table) ask(args ...string) string {
	last := len(b.conns) - 1
	b.send(last, [][]string{args})
	e, _ := b.run(last)
	return e.Reply
}

// TestIndependence says of pairs of commands, sent by processes 0 and 1 after others,
// whether they are independent.
func TestIndependence(t *testing.T) {
	for _, c := range []struct {
		name, before, a, b string
		want               bool
	}{
		{"other keys", "", "set a 1", "set b 1", true},
		{"one key", "", "set a 1", "set a 2", false},
		{"read and write", "", "get a", "set a 1", false},
		{"reads", "", "get a", "ttl a", true},
		{"refused takes", "2 set a 1", "set a x nx", "set a y nx", true},
		{"refused take and release", "2 set a 1", "set a x nx", "del a", false},
		{"release of nothing", "", "del a", "get a", true},
		{"ttl and read", "2 set a 1", "pexpire a 5", "get a", false},
		{"ttl of nothing", "", "pexpire a 5", "get a", true},
		{"compare, other owner", "2 set a x", "eval if(redis.call('get',KEYS[1])==ARGV[1])then(redis.call('del',KEYS[1]))end 1 a z", "get a", true},
		{"scan", "", "keys *", "set a 1", false},
		{"flush", "", "flushall", "get a", false},
		{"watch and write", "", "watch a", "set a 1", false},
		{"watch and read", "", "watch a", "get a", true},
		{"transaction and write of what it watches", "0 watch a", "exec", "set a 1", false},
		{"waiting for one key", "", "blpop q 0", "blpop q 0", false},
		{"waiting for two", "", "blpop p 0", "blpop q 0", false},
		{"push and wait", "", "rpush q x", "blpop q 0", false},
		{"push for another", "2 blpop q 0", "rpush q x", "get a", true},
		{"push for the other", "1 blpop q 0", "rpush q x", "get a", false},
		{"publish to nobody", "", "publish c x", "publish c y", true},
		{"publish to one", "2 subscribe c", "publish c x", "publish c y", false},
		{"publish to one, on two channels", "2 subscribe c d", "publish c x", "publish d y", false},
		{"publish to two", "2 subscribe c; 3 subscribe d", "publish c x", "publish d y", true},
		{"publish to the other", "1 subscribe c", "publish c x", "get a", false},
		{"publish and subscribe", "", "publish c x", "subscribe c", false},
		{"publish and subscribe to a pattern", "", "publish c x", "psubscribe d*", false},
		{"subscriptions", "", "subscribe c", "subscribe d", true},
		{"scripts", "", "script load x=1", "script load y=1", true},
		{"script and flush", "", "script load x=1", "script flush", false},
		{"unknown script and its load", "", "evalsha " + sha("return") + " 0", "script load return", false},
		{"known script", "2 script load return", "evalsha " + sha("return") + " 0", "evalsha " + sha("return") + " 0", true},
		{"databases", "0 select 1", "set a 1", "set a 2", true},
		{"swapped", "0 select 1", "set a 1", "swapdb 0 1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTable(t, 4)
				defer w.server.Close()
				for step := range strings.SplitSeq(c.before, "; ") {
					if step != "" {
						w.turn(int(step[0]-'0'), [][]string{strings.Fields(step[2:])})
					}
				}
				a := w.turn(0, within(c.a))
				b := w.turn(1, within(c.b))
				if got := a.Independent(b); got != c.want || b.Independent(a) != got {
					t.Errorf("independent %v, want %v: effects %+v, %+v", got, c.want, a, b)
				}
			})
		})
	}
}

// within begins the transaction of an EXEC; scripts have no blanks but return's.
func within(command string) [][]string {
	args := strings.Fields(command)
	if command == "exec" {
		return [][]string{{"multi"}, {"get", "other"}, args}
	}
	return [][]string{args}
}

// TestRepliesDoNotDependOnChance runs the same commands on several servers.
func TestRepliesDoNotDependOnChance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(*pairs / 20) {
			var want []string
			for range 3 {
				r := rand.New(rand.NewPCG(seed, 6))
				w := newTable(t, 3)
				w.turn(0, [][]string{{"sadd", "a", "1", "2", "x", "y", "z"}})
				w.turn(0, [][]string{{"sadd", "b", "1", "2", "x", "y", "w"}})
				var got []string
				for range 20 {
					commands := draw(r)
					if r.IntN(4) == 0 {
						commands = [][]string{{[]string{"sunion", "sinter", "sdiff"}[r.IntN(3)], "a", "b"}}
					}
					got = append(got, w.turn(r.IntN(3), commands).Reply)
				}
				got = append(got, w.turn(0, [][]string{{"randomkey"}}).Reply, w.turn(1, [][]string{{"srandmember", "a"}}).Reply)
				w.server.Close()
				if want == nil {
					want = got
				}
				equal(t, fmt.Sprintf("replies of seed %d", seed), got, want)
			}
		}
	})
}

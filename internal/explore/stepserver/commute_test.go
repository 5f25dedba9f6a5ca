package stepserver_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

var pairs = flag.Int("pairs", longtest.Times(1000, 2000), "how many pairs of commands to take in both orders")

// TestIndependentStepsCommute takes two steps in both orders: if their effects are
// independent, replies, messages and the state after them are the same.
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
		effects [2]stepserver.Effect
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
				return false // it runs at once
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
					if content != before[key] && !slices.Contains(e.Writes, key) && !slices.Contains(e.Writes, stepserver.Everything) {
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

// TestIndependence checks, for pairs of commands sent by processes 0 and 1 after
// others, whether they are independent.
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

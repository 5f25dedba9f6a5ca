package stepserver_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// after is the fingerprint after processes 0 and 1 sent commands: "0 set k v; 1 get k;
// wait 5ms".
func after(t *testing.T, script string, canonical func(string) string) uint64 {
	t.Helper()
	w := newTable(t, 2)
	defer w.server.Close()
	w.server.Canonicalise(canonical)
	for step := range strings.SplitSeq(script, "; ") {
		words := strings.Fields(step)
		switch words[0] {
		case "wait":
			d, _ := time.ParseDuration(words[1])
			time.Sleep(d)
		case "send0", "send1":
			w.send(int(words[0][4]-'0'), [][]string{words[1:]})
		case "0", "1":
			process := int(words[0][0] - '0')
			w.send(process, [][]string{words[1:]})
			w.run(process)
		}
	}
	return w.server.Fingerprint()
}

func TestFingerprint(t *testing.T) {
	tokens := func(text string) string { return strings.ReplaceAll(text, "random1", "random2") }
	for _, c := range []struct {
		name, a, b string
		canonical  func(string) string
		same       bool
	}{
		{"nothing", "0 get k", "1 ttl k; 0 hget k f", nil, true},
		{"set twice", "0 set k v", "0 set k w; 1 set k v", nil, true},
		{"set and deleted", "0 get k", "0 set k v; 1 del k", nil, true},
		{"value", "0 set k v", "0 set k w", nil, false},
		{"key", "0 set k v", "0 set l v", nil, false},
		{"type", "0 rpush k v", "0 sadd k v", nil, false},
		{"text is not cut elsewhere", "0 mset a bc d e", "0 mset a b cd e", nil, false},
		{"order of a list", "0 rpush k a b", "0 rpush k b a", nil, false},
		{"order of a set", "0 sadd k a b", "0 sadd k b a", nil, true},
		{"order of a hash", "0 hset k a 1 b 2", "0 hset k b 2; 0 hset k a 1", nil, true},
		{"field", "0 hset k a 1 b 2", "0 hset k a 2 b 1", nil, false},
		{"score", "0 zadd k 1 a", "0 zadd k 2 a", nil, false},
		{"ttl", "0 set k v px 100", "0 set k v px 101", nil, false},
		{"no ttl", "0 set k v px 100", "0 set k v", nil, false},
		{"what remains of it", "0 set k v px 100; wait 40ms", "0 set k v px 60", nil, true},
		{"expired", "0 set k v px 100; wait 100ms", "0 get k", nil, true},
		{"database", "0 select 1; 1 get k; 0 set k v; 0 select 0", "0 set k v", nil, false},
		{"selected", "0 select 1", "0 get k", nil, false},
		{"who selected", "0 select 1", "1 select 1", nil, false},
		{"random tokens", "0 set k random1", "0 set k random2", tokens, true},
		{"random members", "0 zadd k 1 random1 2 b", "0 zadd k 1 random2 2 b", tokens, true},
		{"random tokens, as they are", "0 set k random1", "0 set k random2", nil, false},
		{"script", "0 script load x=1", "0 get k", nil, false},
		{"scripts", "0 script load x=1; 1 script load y=1", "0 script load y=1; 0 script load x=1", nil, true},
		{"script forgotten", "0 script load x=1; 1 script flush", "0 get k", nil, true},
		{"pending", "send0 get k", "0 get k", nil, false},
		{"behind it", "send0 get k; send0 get l", "send0 get k; send0 get m", nil, false},
		{"transaction", "0 multi", "0 get k", nil, false},
		{"queued", "0 multi; 0 get k", "0 multi; 0 get l", nil, false},
		{"transaction over", "0 multi; 0 get k; 0 exec", "0 get k", nil, true},
		{"watching", "0 watch k", "0 get k", nil, false},
		{"watching, broken", "0 watch k; 1 set k v", "1 set k v; 0 watch k", nil, false},
		{"watching, broken by one or the other", "0 watch k; 1 set k w; 1 set k v", "0 watch k; 1 set k v", nil, true},
		{"watching, refused", "0 set k v; 0 watch k; 1 setnx k w", "0 set k v; 0 watch k", nil, true},
		{"not watching any more", "0 watch k; 0 unwatch", "0 get k", nil, true},
		{"listening", "0 subscribe c", "0 get k", nil, false},
		{"to another", "0 subscribe c", "0 subscribe d", nil, false},
		{"to a pattern", "0 subscribe c", "0 psubscribe c", nil, false},
		{"not listening any more", "0 subscribe c; 0 unsubscribe", "0 get k", nil, true},
		{"blocked", "0 blpop q 0", "0 get k", nil, false},
		{"first to be served", "0 blpop q 0; 1 blpop q 0", "1 blpop q 0; 0 blpop q 0", nil, false},
		{"time left to wait", "0 blpop q 2; wait 500ms", "0 blpop q 1.5", nil, false}, // the arguments differ
		{"time left", "0 blpop q 2; wait 500ms", "0 blpop q 2", nil, false},
		{"served", "0 blpop q 0; 1 rpush q x", "0 get k", nil, true},
		{"random numbers", "0 eval math.random() 0; 0 script flush", "0 get k", nil, false},
		{"stream", "0 xadd s 1-1 f v", "0 xadd s 1-1 f v", nil, false}, // not seen, so never equal
		{"ttl of a field", "0 hset k f v; 0 hexpire k 5 fields 1 f", "0 hset k f v; 0 hexpire k 5 fields 1 f", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := after(t, c.a, c.canonical), after(t, c.b, c.canonical)
				if (a == b) != c.same {
					t.Errorf("%q is %x, %q is %x, want the same: %v", c.a, a, c.b, b, c.same)
				}
			})
		})
	}
}

// TestFingerprintIsTheSameEverywhere: a process is compared with another.
func TestFingerprintIsTheSameEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const want = 0x4be049e352f8c6a7
		if got := after(t, "0 set k v px 100; 1 subscribe c; 0 hset h a 1; 0 script load x=1", nil); got != want {
			t.Errorf("got %#x, want %#x", got, uint64(want))
		}
	})
}

// TestEqualFingerprintsAnswerEqually draws states, and lets those with the same
// fingerprint answer the same commands.
func TestEqualFingerprintsAnswerEqually(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tables []*table
		byPrint := map[uint64][]uint64{}
		prefix := func(seed uint64) *table {
			r := rand.New(rand.NewPCG(seed, 4))
			w := newTable(t, 3)
			for range r.IntN(4) {
				w.turn(r.IntN(2), draw(r))
			}
			w.heard()
			return w
		}
		for seed := range uint64(*pairs) {
			w := prefix(seed)
			print := w.server.Fingerprint()
			byPrint[print] = append(byPrint[print], seed)
			w.server.Close()
		}
		compared := 0
		for _, seeds := range byPrint {
			for i := 1; i < min(len(seeds), 8); i++ {
				tables = []*table{prefix(seeds[0]), prefix(seeds[i])}
				answerEqually(t, tables, seeds[0], seeds[i])
				compared++
			}
		}
		t.Logf("compared %d pairs of states", compared)
		if compared < *pairs/40 {
			t.Errorf("compared %d pairs of states, want %d to have tested something", compared, *pairs/40)
		}
	})
}

func answerEqually(t *testing.T, tables []*table, a, b uint64) {
	t.Helper()
	var got [2][]string
	for i, w := range tables {
		r := rand.New(rand.NewPCG(a, 5))
		for range 12 {
			process := r.IntN(3)
			got[i] = append(got[i], w.turn(process, draw(r)).Reply)
		}
		got[i] = append(got[i], w.heard()...)
		w.server.Close()
	}
	if !slices.Equal(got[0], got[1]) {
		t.Errorf("seeds %d and %d have the same fingerprint, but then answer\n%q\n%q", a, b, got[0], got[1])
	}
}

// turn lets a process send and run commands, unless it waits.
func (b *table) turn(process int, commands [][]string) stepserver.Effect {
	if b.waits(process) {
		return stepserver.Effect{}
	}
	b.send(process, commands)
	e, _ := b.run(process)
	return e
}

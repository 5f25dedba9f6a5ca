package runner

import (
	"bytes"
	"container/heap"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/results"
)

// ms is the unit of time in this file, in ns. The tests here judge histories in JSON Lines as
// another program would record them. The lock in them is simulated; it is correct, or broken in one
// way.
const ms = int64(1e6)

// A foreignLock simulates the server and the clients of a lock.
type foreignLock struct {
	*rand.Rand
	fault   string // name of the fault in the lock, empty for none
	faulted bool   // the fault changed something
	now     int64
	agenda  agenda
	keys    map[string]*foreignKey
	lines   []jsonLine
	clients int // number of clients so far
	holds   int
	grants  func(asked int64) int64
	fences  bool
	store   bool
	renames bool // a client gets a new number after an unknown outcome
}

type foreignKey struct {
	token          int // of the owner; 0 if the key is free
	until          int64
	fence          int
	version, value int64
}

type jsonLine map[string]any

type agendaItem struct {
	at int64
	do func()
}

type agenda []agendaItem

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at < a[j].at }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(agendaItem)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func (s *foreignLock) after(d int64, do func()) { heap.Push(&s.agenda, agendaItem{s.now + d, do}) }

func (s *foreignLock) chance(n int) bool { return s.IntN(n) == 0 }

// breaks reports whether the named fault occurs now.
func (s *foreignLock) breaks(fault string) bool { return s.fault == fault && s.chance(3) }

// foreignLeases return the lease granted for a requested one: the same, in whole seconds, at most a
// second, or none.
var foreignLeases = []func(asked int64) int64{
	func(asked int64) int64 { return asked },
	func(asked int64) int64 { return asked },
	func(asked int64) int64 { return (asked + 1000*ms - 1) / (1000 * ms) * 1000 * ms },
	func(asked int64) int64 { return min(asked, 300*ms) },
	func(asked int64) int64 { return 0 },
}

// record simulates a lock, with the lines of its history in the order in which calls ended.
func record(seed uint64, fault string) *foreignLock {
	r := rand.New(rand.NewPCG(seed, 7))
	s := &foreignLock{Rand: r, fault: fault, keys: map[string]*foreignKey{"a": {}, "b": {}}}
	s.grants = foreignLeases[r.IntN(len(foreignLeases))]
	if fault != "" {
		s.grants = foreignLeases[0]
	}
	s.fences, s.store, s.renames = r.IntN(2) == 0 || fault == "a fence does not rise", r.IntN(3) == 0, r.IntN(2) == 0
	for range 2 + r.IntN(3) {
		c := &foreignClient{foreignLock: s, process: 1 + r.IntN(2), left: 3 + r.IntN(10)}
		c.rename()
		s.after(r.Int64N(50*ms), c.step)
	}
	for len(s.agenda) > 0 && len(s.lines) < 300 {
		item := heap.Pop(&s.agenda).(agendaItem)
		s.now = item.at
		item.do()
	}
	return s
}

// A foreignClient is a client that makes one request after the other. It may get a new number, and
// so become another owner.
type foreignClient struct {
	*foreignLock
	number, process, left int
	key                   string
	token, hold           int
	until                 int64 // end of its validity, as far as it knows
	asked                 int64
}

func (c *foreignClient) rename() {
	c.clients++
	c.number = c.clients
}

// op returns the line of an operation that begins now.
func (c *foreignClient) op(kind string) jsonLine {
	return jsonLine{"op": kind, "client": c.number, "process": c.process, "key": c.key, "call_ns": c.now}
}

// send runs act on the server, now, later or never, and then calls done with the outcome for the
// client.
func (c *foreignClient) send(l jsonLine, act func() string, done func(outcome string)) {
	end := func(outcome string) {
		l["outcome"], l["return_ns"] = outcome, c.now
		c.lines = append(c.lines, l)
		done(outcome)
	}
	delay := c.Int64N(4 * ms)
	switch c.IntN(14) {
	case 0: // the reply is lost, and the request may be late
		if !c.chance(3) {
			c.after(delay+c.Int64N(3)*c.Int64N(400*ms), func() { act() })
		}
		if c.chance(3) { // the call never ends either
			c.lines = append(c.lines, l)
			c.after(50*ms, func() { done("unknown") })
			return
		}
		c.after(50*ms, func() { end("unknown") })
	case 1: // it is not sent
		c.after(delay, func() { end("failed") })
	default:
		c.after(delay, func() {
			outcome := act()
			c.after(c.Int64N(4*ms), func() { end(outcome) })
		})
	}
}

func (c *foreignClient) step() {
	if c.left--; c.left < 0 {
		return
	}
	c.key = []string{"a", "a", "b"}[c.IntN(3)]
	c.acquire()
}

// next continues the client, as another owner if the outcome is unknown and the program renumbers
// clients.
func (c *foreignClient) next(outcome string) {
	if outcome == "unknown" && c.renames {
		c.rename()
	}
	c.after(c.Int64N(100*ms)+c.Int64N(2)*c.Int64N(3000*ms), c.step)
}

func (c *foreignClient) acquire() {
	c.asked = ms * (50 + c.Int64N(1200))
	wait := c.Int64N(2) * ms * c.Int64N(600)
	l := c.op("acquire")
	l["asked_ns"], l["wait_ns"], l["granted_ns"] = c.asked, wait, c.grants(c.asked)
	begun, key, asked := c.now, c.key, c.asked
	var try func()
	try = func() {
		started, token := c.now, 0
		l["attempts"] = orZero(l["attempts"]) + 1
		c.trySend(l, func() string {
			if token = c.take(key, asked); token == 0 {
				return "refused"
			}
			return "ok"
		}, func(outcome string) bool {
			if outcome == "refused" && c.now < begun+wait {
				c.after(10*ms+c.Int64N(30*ms), try)
				return false
			}
			return true
		}, func(outcome string) {
			if outcome != "ok" {
				c.next(outcome)
				return
			}
			c.holds++
			c.token, c.hold = token, c.holds
			granted := c.grants(c.asked)
			l["hold"], l["attempt_ns"], l["granted_ns"] = c.hold, started, granted
			if c.fences {
				l["fence"] = c.keys[c.key].fence
				if c.breaks("a fence does not rise") && c.keys[c.key].fence > 1 {
					l["fence"], c.faulted = 1, true
				}
			}
			if c.until = started + granted; granted == 0 {
				c.until = 1 << 60
			}
			c.work()
		})
	}
	try()
}

// trySend is like send, but it usually asks over whether the outcome is final. If it is not, over
// has scheduled another try, and trySend records nothing.
func (c *foreignClient) trySend(l jsonLine, act func() string, over func(outcome string) bool, done func(outcome string)) {
	if c.chance(10) {
		c.send(l, act, done)
		return
	}
	c.after(c.Int64N(4*ms), func() {
		outcome := act()
		c.after(c.Int64N(4*ms), func() {
			if over(outcome) {
				l["outcome"], l["return_ns"] = outcome, c.now
				c.lines = append(c.lines, l)
				done(outcome)
			}
		})
	})
}

func orZero(v any) int {
	n, _ := v.(int)
	return n
}

// take acquires the key on the server and returns a token, 0 for a refusal.
func (c *foreignClient) take(key string, asked int64) int {
	k := c.keys[key]
	if k.token != 0 && k.until > c.now {
		if !c.breaks("a held key is granted") {
			return 0
		}
		c.faulted = true
	}
	if k.token == 0 && c.breaks("a free key is refused") {
		c.faulted = true
		return 0
	}
	c.foreignLock.holds++
	k.token, k.until = c.foreignLock.holds, 1<<60
	k.fence++
	if granted := c.grants(asked); granted > 0 {
		k.until = c.now + granted
		if c.breaks("a lease ends early") {
			k.until, c.faulted = c.now+granted/10, true
		}
	}
	return k.token
}

// work uses the hold, within its validity or past it, and releases it.
func (c *foreignClient) work() {
	if c.chance(30) && c.grants(c.asked) > 0 { // it dies; without a lease, the server would have to notice
		c.lines = append(c.lines, jsonLine{"op": "death", "client": c.number, "process": c.process, "call_ns": c.now})
		return
	}
	c.after(c.Int64N(200*ms)+c.Int64N(2)*c.Int64N(2)*c.Int64N(1500*ms), func() {
		switch {
		case c.chance(4):
			c.extend()
		case c.store && c.now < c.until:
			c.update()
		default:
			c.release()
		}
	})
}

// under returns the line of an operation under the current hold.
func (c *foreignClient) under(kind string) jsonLine {
	l := c.op(kind)
	l["hold"] = c.hold
	return l
}

func (c *foreignClient) mine() bool {
	k := c.keys[c.key]
	return k.token == c.token && k.until > c.now
}

func (c *foreignClient) extend() {
	l, asked, token, key := c.under("extend"), ms*(50+c.Int64N(1200)), c.token, c.key
	granted := c.grants(asked)
	l["asked_ns"], l["granted_ns"] = asked, granted
	called := c.now
	c.send(l, func() string {
		k := c.keys[key]
		if k.token != token || k.until <= c.now {
			return "lost"
		}
		if granted > 0 && c.breaks("an extend does nothing") {
			c.faulted = true
		} else if granted > 0 {
			k.until = c.now + granted
		}
		return "ok"
	}, func(outcome string) {
		if outcome == "ok" {
			l["granted_ns"], l["attempt_ns"] = granted, called
			if granted > 0 {
				c.until = called + granted
			}
		}
		switch outcome {
		case "lost":
			c.next(outcome)
		case "unknown": // the client does not know whether it holds the lock: it releases
			c.until = 0
			c.release()
		default:
			c.work()
		}
	})
}

// update reads the record that the lock guards, and writes it.
func (c *foreignClient) update() {
	read, k := c.under("read"), c.keys[c.key]
	c.after(ms, func() {
		read["outcome"], read["return_ns"], read["value"], read["version"] = "ok", c.now, k.value, k.version
		c.lines = append(c.lines, read)
		if !c.mine() || c.until <= c.now+2*ms {
			c.release()
			return
		}
		write, base := c.under("write"), k.version
		c.after(ms, func() {
			k.value, k.version = k.value+1, k.version+1
			write["outcome"], write["return_ns"], write["value"], write["version"], write["base"] = "ok", c.now, k.value, k.version, base
			c.lines = append(c.lines, write)
			c.release()
		})
	})
}

func (c *foreignClient) release() {
	token, key := c.token, c.key
	c.send(c.under("release"), func() string {
		k := c.keys[key]
		if c.fault == "a release frees whatever is there" && k.token != 0 && k.token != token && k.until > c.now {
			k.token, c.faulted = 0, true
			return "ok"
		}
		if k.token != token || k.until <= c.now {
			return "lost"
		}
		k.token = 0
		return "ok"
	}, c.next)
}

// text returns the file of the history, with the lines in the order in which they were written.
func (s *foreignLock) text(header jsonLine, lines []jsonLine) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	h := jsonLine{"schema": history.Schema, "design": "foreign"}
	for k, v := range header {
		h[k] = v
	}
	_ = e.Encode(h)
	for _, l := range lines {
		_ = e.Encode(l)
	}
	return b.Bytes()
}

// judgeText judges the text of a history in which every possible guarantee is claimed.
func judgeText(t *testing.T, text []byte) results.Judged {
	t.Helper()
	src, err := history.NewSource(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	j, _, err := judgeBy(src, "foreign.jsonl", nil, join(), onProcessors)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// judgeWhole judges a complete file.
func judgeWhole(t *testing.T, text []byte) results.Judged {
	t.Helper()
	j := judgeText(t, text)
	if j.Err != nil || j.End.Partial {
		t.Fatalf("%v %v\n%s", j.Err, j.End, text)
	}
	return j
}

// accused lists the cells in which j is found broken, except for cells of owners that outlived
// their leases.
func accused(j results.Judged) (cells []string) {
	for _, f := range j.Verdicts.Findings {
		if f.Verdict == checker.Broken && (f.Claimed || f.Cell.Under&lockbench.Outlived == 0) {
			cells = append(cells, f.Cell.String())
		}
	}
	for _, d := range j.Verdicts.Defects {
		cells = append(cells, "defect: "+d)
	}
	return cells
}

// strippable are the fields that may be left out, by docs/history-format.md; hold only of all lines.
var strippable = []string{
	"granted_ns", "attempt_ns", "asked_ns", "wait_ns", "attempts", "fence", "process", "value", "outcome",
}

// strip removes optional fields from lines, each of them never, always or at random.
func strip(r *rand.Rand, lines []jsonLine) (left []jsonLine, what string) {
	how := map[string]int{}
	for _, f := range append([]string{"hold"}, strippable...) {
		switch n := r.IntN(6); {
		case n == 4 || n == 3 && f == "granted_ns":
			how[f] = 2
		case n == 5 && f != "hold":
			how[f] = 1
		}
		if how[f] > 0 {
			what += fmt.Sprint(f, [...]string{"", " at times ", " always "}[how[f]])
		}
	}
	for _, l := range lines {
		c := jsonLine{}
		for k, v := range l {
			c[k] = v
		}
		for _, f := range append([]string{"hold"}, strippable...) {
			if how[f] == 2 && f != "outcome" || how[f] > 0 && r.IntN(4) == 0 {
				delete(c, f)
				if f == "outcome" {
					delete(c, "return_ns")
				}
			}
		}
		left = append(left, c)
	}
	return left, what
}

// TestNothingLeftOutAccuses checks that a sound lock is not accused, whatever fields its recorder
// leaves out.
func TestNothingLeftOutAccuses(t *testing.T) {
	t.Parallel()
	bad := map[string]int{}
	for seed := range uint64(longtest.Times(3000, 100_000)) {
		s := record(seed, "")
		r := rand.New(rand.NewPCG(seed, 9))
		lines, what := s.lines, "nothing"
		header := jsonLine{}
		if seed%3 > 0 {
			lines, what = strip(r, s.lines)
		}
		if seed%5 == 0 { // some owners are not in the record
			what += " and owners"
			header["others"] = true
			lines = slices.DeleteFunc(slices.Clone(lines), func(l jsonLine) bool { return l["client"].(int)%3 == 0 })
		}
		if seed%7 == 0 { // some keys are not in the record
			what += " and a key"
			header["sample"] = 0.5
			lines = slices.DeleteFunc(slices.Clone(lines), func(l jsonLine) bool { return l["key"] == "b" })
		}
		text := s.text(header, lines)
		if got := accused(judgeWhole(t, text)); len(got) > 0 {
			bad[strings.Join(got, " ")]++
			if bad[strings.Join(got, " ")] == 1 {
				t.Errorf("seed %d, left out: %s: accused of %v\n%s", seed, what, got, text)
			}
		}
	}
	if len(bad) > 0 {
		t.Errorf("accusations: %v", bad)
	}
}

// withEpochs puts epochs between lines, as recorders do, and the end after them.
func withEpochs(r *rand.Rand, lines []jsonLine) []jsonLine {
	all := []jsonLine{{"epoch_ns": 0}}
	for i, l := range lines {
		all = append(all, l)
		if r.IntN(8) == 0 {
			epoch := int64(1 << 62)
			for _, later := range lines[i+1:] {
				epoch = min(epoch, later["call_ns"].(int64))
			}
			if epoch < 1<<62 {
				all = append(all, jsonLine{"epoch_ns": epoch})
			}
		}
	}
	return append(all, jsonLine{"end": jsonLine{}})
}

// TestCutRecordsAccuseNobody checks that a sound lock is not accused if its recorder is killed, so
// that the file ends anywhere.
func TestCutRecordsAccuseNobody(t *testing.T) {
	t.Parallel()
	for seed := range uint64(longtest.Times(500, 20_000)) {
		s := record(seed, "")
		r := rand.New(rand.NewPCG(seed, 11))
		text := s.text(nil, withEpochs(r, s.lines))
		judgeWhole(t, text)
		head := bytes.IndexByte(text, '\n') + 1
		cut := text[:head+r.IntN(len(text)-head)]
		j := judgeText(t, cut)
		if got := accused(j); len(got) > 0 {
			t.Fatalf("seed %d: accused of %v\n%s", seed, got, cut)
		}
		if whole := bytes.Contains(cut, []byte(`{"end":{}}`)); !j.End.Partial && bytes.IndexByte(cut[head:], '\n') >= 0 && !whole {
			t.Fatalf("seed %d: it is not said to be partial\n%s", seed, cut)
		}
	}
}

// TestBrokenForeignLocksAreFound checks that faults are found if no field is left out.
func TestBrokenForeignLocksAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault, breaks string
		part          int // least share, in percent, of the histories changed by the fault in which it is found
	}{
		{"a held key is granted", "exclusion", 60},
		{"a lease ends early", "lease", 20},
		{"a free key is refused", "no-spurious-refusal", 20},
		{"an extend does nothing", "exclusion", 30},
		{"a release frees whatever is there", "owner-release", 20},
		{"a fence does not rise", "fencing", 60},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			faulted, found := 0, map[string]int{}
			for seed := range uint64(300) {
				s := record(seed, c.fault)
				if !s.faulted {
					continue
				}
				faulted++
				by := map[string]bool{}
				for _, f := range judgeWhole(t, s.text(nil, s.lines)).Verdicts.Findings {
					if f.Verdict == checker.Broken {
						by[string(f.Cell.Guarantee)] = true
					}
				}
				for g := range by {
					found[g]++
				}
			}
			t.Logf("of %d: %v", faulted, found)
			if faulted < 50 || found[c.breaks]*100 < faulted*c.part {
				t.Errorf("of %d histories %v are found to break %s, want %d %%", faulted, found, c.breaks, c.part)
			}
		})
	}
}

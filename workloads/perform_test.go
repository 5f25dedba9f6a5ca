package workloads

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
)

// A ledger is a lock service in memory that never errs, with every ability. It
// complains about operations that no Step came before.
type ledger struct {
	t       *testing.T
	mu      sync.Mutex
	held    map[string]*entry
	records map[string]lockbench.Record
	events  []string
	left    []string // keys still held at the end
}

// An entry is the lock of one key: it has an owner until then, and for all others
// it is taken until then.
type entry struct {
	owner *ledgerClient
	depth int
	until time.Time
}

type ledgerClient struct {
	*ledger
	stepped            bool
	id, clients, rests int
}

// Step implements Driver.
func (c *ledgerClient) Step(string) { c.stepped = true }

// Rest implements Driver: no two timers fall due at one instant.
func (c *ledgerClient) Rest(ctx context.Context, d time.Duration) bool {
	c.rests++
	return c.Sleep(ctx, d+time.Duration(1+c.id+c.rests*c.clients)*time.Millisecond)
}

// Sleep implements Driver.
func (c *ledgerClient) Sleep(_ context.Context, d time.Duration) bool {
	time.Sleep(d)
	return true
}

// Die implements Driver.
func (*ledgerClient) Die() {}

// operation records an operation and that its Step is used up.
func (c *ledgerClient) operation(what string, err error) error {
	if !c.stepped {
		c.t.Errorf("%s without a Step before", what)
	}
	c.stepped = false
	if err != nil {
		what += " refused"
	}
	c.events = append(c.events, what)
	return err
}

func (c *ledgerClient) Acquire(_ context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.held[key]
	if e != nil && e.owner != c && time.Now().Before(e.until) {
		return nil, c.operation("acquire", lockbench.ErrNotAcquired)
	}
	if e == nil || e.owner != c || !time.Now().Before(e.until) {
		e = &entry{owner: c}
		c.held[key] = e
	}
	e.depth++
	e.until = time.Now().Add(opt.TTL)
	return &ledgerLease{c, key}, c.operation("acquire", nil)
}

func (c *ledger) Read(_ context.Context, key string) (lockbench.Record, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.records[key], nil
}

func (c *ledger) Write(_ context.Context, key string, r lockbench.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.records[key] = r
	c.events = append(c.events, "write")
	return nil
}

type ledgerLease struct {
	c   *ledgerClient
	key string
}

func (l *ledgerLease) mine() *entry {
	if e := l.c.held[l.key]; e != nil && e.owner == l.c && time.Now().Before(e.until) {
		return e
	}
	return nil
}

func (l *ledgerLease) act(what string, do func(*entry)) error {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	e := l.mine()
	if e == nil {
		return l.c.operation(what, lockbench.ErrNotHeld)
	}
	do(e)
	return l.c.operation(what, nil)
}

func (l *ledgerLease) Release(context.Context) error {
	return l.act("release", func(e *entry) {
		if e.depth--; e.depth == 0 {
			delete(l.c.held, l.key)
		}
	})
}

func (l *ledgerLease) ReleaseAfter(_ context.Context, d time.Duration) error {
	return l.act("release", func(e *entry) { e.owner, e.until = nil, time.Now().Add(d) })
}

func (l *ledgerLease) Extend(_ context.Context, ttl time.Duration) error {
	return l.act("extend", func(e *entry) { e.until = time.Now().Add(ttl) })
}

// perform runs a program with so many clients and rounds, and returns the resulting
// ledger.
func perform(t *testing.T, p Program, clients, rounds int) *ledger {
	l := &ledger{t: t, held: map[string]*entry{}, records: map[string]lockbench.Record{}}
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		run := NewRun(p.Fill(Options{Clients: clients, Keys: max(1, p.Keys), TTL: 2 * time.Second}), nil)
		if err := run.Prepare(t.Context(), l, p); err != nil {
			t.Fatal(err)
		}
		for id := range clients {
			lc := &ledgerClient{ledger: l, id: id, clients: clients}
			c := run.Client(id, lc, lc)
			c.Driver = lc
			all.Go(func() { c.Perform(t.Context(), p, rounds) })
			synctest.Wait() // in this order, every time
		}
		all.Wait()
		for key, e := range l.held {
			if e.owner != nil && time.Now().Before(e.until) {
				l.left = append(l.left, key)
			}
		}
	})
	return l
}

// TestPerform runs each program with a correct lock: it makes its characteristic
// operations without any fault, and leaves nothing behind.
func TestPerform(t *testing.T) {
	shows := map[string][]string{
		"oversell":      {"acquire", "write", "release"},
		"redeem":        {"acquire", "write", "release"},
		"reentrant":     {"acquire", "release"},
		"contend":       {"acquire", "release"},
		"update":        {"acquire", "write", "release"},
		"overrun":       {"acquire", "acquire refused", "write", "release refused"},
		"stale-release": {"acquire", "release", "release refused", "acquire refused"},
		"release-twice": {"acquire", "release", "release refused"},
		"extend":        {"acquire refused", "extend", "extend refused"},
		"release-delay": {"acquire", "release", "acquire refused"},
		"nested":        {"acquire", "acquire refused", "release"},
		"nested-short":  {"release refused"},
		"nested-again":  {"acquire"},
		"leftover":      {"acquire", "release"},
		"hoard":         {"acquire"},
		"wait":          {"acquire", "release"},
		"wait-ends":     {"acquire", "release"},
		"wake-up":       {"acquire", "release"},
		"wait-both":     {"acquire", "release"},
		"renewed":       {"acquire", "release", "release refused"},
		"two-renewed":   {"acquire", "release", "release refused"},
		"extend-thrice": {"acquire", "extend", "release", "acquire refused"},
		"odd-leases":    {"acquire", "acquire refused", "extend", "release"},
		"abandon":       {"acquire", "acquire refused", "release"},
		"successor":     {"acquire", "acquire refused", "release"},
		"two-keys":      {"acquire", "release"},
		"odd-keys":      {"acquire", "release"},
	}
	for _, p := range By(Explored) {
		t.Run(p.Name, func(t *testing.T) {
			want, listed := shows[p.Name]
			if !listed {
				t.Fatal("the test does not say what it shows")
			}
			l := perform(t, p, 2, 2)
			for _, event := range want {
				if !slices.Contains(l.events, event) {
					t.Errorf("no %q in %q", event, l.events)
				}
			}
			if len(l.left) > 0 {
				t.Errorf("left held: %q", l.left)
			}
		})
	}
}

// TestScenariosScale runs them with more clients and rounds than one needs.
func TestPerformScales(t *testing.T) {
	for _, p := range By(Explored) {
		t.Run(p.Name, func(t *testing.T) {
			l := perform(t, p, 5, 4)
			if !slices.Contains(l.events, "acquire") {
				t.Error("nothing was acquired")
			}
		})
	}
}

func TestFindExplored(t *testing.T) {
	p, err := Find(Explored, "overrun")
	if err != nil || p.Name != "overrun" {
		t.Errorf("overrun: got %q, %v", p.Name, err)
	}
	for name, hint := range map[string]string{"overun": "did you mean overrun", "mutex": "known are", "": "known are oversell"} {
		if _, err := Find(Explored, name); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%q: got %v, want a hint %q", name, err, hint)
		}
	}
}

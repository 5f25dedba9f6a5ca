package explore

import (
	"context"
	"errors"
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
	stepped bool
}

func (c *ledgerClient) step(string) { c.stepped = true }

// operation notes what happens and that its Step is used up.
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

func (c *ledgerClient) Read(_ context.Context, key string) (lockbench.Record, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.records[key], nil
}

func (c *ledgerClient) Write(_ context.Context, key string, r lockbench.Record) error {
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

// runScenario runs a scenario with so many clients and rounds, and returns what is left.
func runScenario(t *testing.T, s Scenario, clients, rounds int) *ledger {
	l := &ledger{t: t, held: map[string]*entry{}, records: map[string]lockbench.Record{}}
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		for id := range clients {
			c := &ledgerClient{ledger: l}
			a := &Actor{
				ID: id, Clients: clients, Rounds: rounds, Keys: []string{"a", "b"}[:max(1, s.Keys)],
				Locker: c, Store: c, Options: lockbench.Options{TTL: 2 * time.Second}, Step: c.step,
			}
			all.Go(func() { s.Run(t.Context(), a) })
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

// TestScenarios runs each scenario with a lock that does nothing wrong: it shows
// what it is about without any fault, and leaves nothing behind.
func TestScenarios(t *testing.T) {
	shows := map[string][]string{
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
		"abandon":       {"acquire", "acquire refused", "release"},
		"two-keys":      {"acquire", "release"},
	}
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			want, listed := shows[s.Name]
			if !listed {
				t.Fatal("the test does not say what it shows")
			}
			l := runScenario(t, s, 2, 2)
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
func TestScenariosScale(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			l := runScenario(t, s, 5, 4)
			if !slices.Contains(l.events, "acquire") {
				t.Error("nothing was acquired")
			}
		})
	}
}

func TestFindScenario(t *testing.T) {
	s, err := FindScenario("overrun")
	if err != nil || s.Name != "overrun" {
		t.Errorf("overrun: got %q, %v", s.Name, err)
	}
	for name, hint := range map[string]string{"overun": "did you mean overrun", "": "known are contend"} {
		if _, err := FindScenario(name); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%q: got %v, want a hint %q", name, err, hint)
		}
	}
}

// TestVersionsAreUnique has clients write under versions that name the write.
func TestVersionsAreUnique(t *testing.T) {
	seen := map[uint64]bool{}
	store := storeFunc(func(r lockbench.Record) error {
		if seen[r.Version] || r.Version == 0 {
			return errors.New("again")
		}
		seen[r.Version] = true
		return nil
	})
	for id := range 3 {
		a := &Actor{ID: id, Keys: []string{"k"}, Store: store}
		for range 3 {
			a.write(t.Context(), 1)
		}
	}
	if len(seen) != 9 {
		t.Errorf("got %d versions, want 9", len(seen))
	}
}

type storeFunc func(lockbench.Record) error

func (f storeFunc) Read(context.Context, string) (lockbench.Record, error) {
	return lockbench.Record{}, nil
}
func (f storeFunc) Write(_ context.Context, _ string, r lockbench.Record) error { return f(r) }

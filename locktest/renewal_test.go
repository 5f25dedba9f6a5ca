package locktest_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/drive/standstill"
	"github.com/lockbench/lockbench/locktest"
)

// halting is a clock, in virtual time, of a machine that stands still for most of each second.
type halting struct{}

func (halting) Now() time.Time { return time.Now() }

func (halting) Sleep(ctx context.Context, _ time.Duration) {
	timer := time.NewTimer(700 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// halts is a clock, in virtual time, of a machine that stands still now and then, which most looks
// do not meet.
type halts struct{ sleeps atomic.Int64 }

func (*halts) Now() time.Time { return time.Now() }

func (h *halts) Sleep(ctx context.Context, d time.Duration) {
	if h.sleeps.Add(1)%200 == 0 {
		d = 700 * time.Millisecond
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// starvedWatchdogs renew too late, as they do on a machine that stands still.
func starvedWatchdogs() func() (lockbench.Locker, error) {
	s := newService(faults{})
	return func() (lockbench.Locker, error) {
		w := newWatchdog(s)
		w.before = func(ctx context.Context) bool {
			late := time.NewTimer(1300 * time.Millisecond)
			defer late.Stop()
			select {
			case <-late.C:
			case <-ctx.Done():
			}
			return true
		}
		return w, nil
	}
}

// plainOwners makes owners of a lock that does not renew.
func plainOwners() func() (lockbench.Locker, error) {
	s := newService(faults{})
	return func() (lockbench.Locker, error) { return s, nil }
}

// slowOwners makes owners of a lock with acquires that take a while, though the machine does not
// stand still.
func slowOwners() func() (lockbench.Locker, error) {
	s := newService(faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		time.Sleep(150 * time.Millisecond)
		return s.wait(ctx, key, opt)
	}})
	return func() (lockbench.Locker, error) { return s, nil }
}

// TestLooksAtRenewal checks that only looks without a standstill, or a declaration, decide whether
// a lock renews; without either the cells that depend on it are untested, and nothing is broken.
func TestLooksAtRenewal(t *testing.T) {
	const late = "the machine stood still in 8 of 8 looks, so that nobody knows"
	const slow = "a call of the lock failed, or took longer than 125ms, in 8 of 8 looks, so that nobody knows"
	lapsing := []lockbench.Cell{lockbench.OwnerRelease.At(lockbench.Outlived), lockbench.LossReported.At(lockbench.Outlived)}
	for _, c := range []struct {
		name    string
		owners  func() (lockbench.Locker, error)
		clock   standstill.Clock
		options []locktest.RunOption
		skipped string // why those cells are not tested
		fails   string // the error of those cases
		err     string // of Try
	}{
		{name: "starved watchdog", owners: starvedWatchdogs(), clock: halting{}, skipped: late, fails: "untested, " + late},
		{name: "starved watchdog, declared", owners: starvedWatchdogs(), clock: halting{},
			options: []locktest.RunOption{locktest.WithRenewal()}, skipped: "the lock renews its leases by itself"},
		{name: "plain lock on a starved machine", owners: plainOwners(), clock: halting{}, skipped: late, fails: "untested, " + late},
		{name: "slow lock", owners: slowOwners(), skipped: slow, fails: "untested, " + slow},
		{name: "plain lock", owners: plainOwners()},
		{name: "plain lock, declared to renew", owners: plainOwners(), options: []locktest.RunOption{locktest.WithRenewal()},
			err: "declared to renew its leases, but 2 of 2 holds ended with their lease of 1s"},
		{name: "plain lock, declared a session", owners: plainOwners(), options: []locktest.RunOption{locktest.WithSession()},
			err: "declared to grant for as long as its owner's session, but 2 of 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				trial, err := locktest.Try(t.Context(), c.owners, append(c.options, locktest.WithHistories(t.TempDir()),
					locktest.WithClock(c.clock), locktest.WithCases(lapsing...))...)
				if c.err != "" || err != nil {
					if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
						t.Errorf("got error %v, want %q in it", err, c.err)
					}
					return
				}
				for _, cell := range lapsing {
					wantLook(t, testOf(trial, cell), c.skipped, c.fails)
				}
			})
		})
	}
}

// TestStarvedMachine checks that a sound lock passes on a machine that stands still: what the machine
// prevents is skipped, with the reason, and fails if it is required or if nothing else was tested.
func TestStarvedMachine(t *testing.T) {
	for _, c := range []struct {
		name     string
		owners   func() (lockbench.Locker, error)
		clock    standstill.Clock
		required bool
		fails    bool
	}{
		{"stands still all the time", plainOwners(), halting{}, false, false},
		{"stands still all the time, required", plainOwners(), halting{}, true, true},
		{"stands still now and then, and calls are slow", slowOwners(), &halts{}, false, false},
		{"stands still now and then, and calls are slow, required", slowOwners(), &halts{}, true, true},
		{"never stood still, and calls are slow", slowOwners(), nil, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := []locktest.RunOption{locktest.WithHistories(t.TempDir()), locktest.WithClock(c.clock)}
				if c.required {
					options = append(options, locktest.WithRequired())
				}
				trial, err := locktest.Try(t.Context(), c.owners, options...)
				if err != nil {
					t.Fatal(err)
				}
				held, skipped := 0, 0
				for cell, test := range trial.Tests {
					switch {
					case trial.Cells[cell].Verdict == checker.Held:
						held++
					case strings.Contains(test.Skipped, "stood still"):
						skipped++
					}
				}
				if err := trial.Err(); c.fails != errors.Is(err, locktest.ErrUntested) || !c.fails && err != nil || held == 0 || (skipped == 0) != (c.clock == nil) {
					t.Errorf("%d held, %d skipped for the machine, error %v", held, skipped, err)
				}
			})
		})
	}
}

// wantLook asserts that a case is not broken, and that it is skipped and failed with these words.
func wantLook(t *testing.T, c cellTest, skipped, fails string) {
	t.Helper()
	if c.Verdict == checker.Broken || !strings.HasPrefix(c.Skipped, skipped) || (skipped == "") != (c.Skipped == "") {
		t.Errorf("%s: got %v, skipped %q, want %q", c.Cell, c.Verdict, c.Skipped, skipped)
	}
	if (fails == "") != (c.Err == nil) || c.Err != nil && !strings.Contains(c.Err.Error(), fails) {
		t.Errorf("%s: got error %v, want %q", c.Cell, c.Err, fails)
	}
}

// TestDeclarations checks that declarations are bounded.
func TestDeclarations(t *testing.T) {
	type options = []locktest.RunOption
	for want, given := range map[string]options{
		"a lease of -1s is too short to be tested; hint: ":                                 {locktest.WithTTL(-time.Second)},
		"a lease of 2h0m0s is more than 1h0m0s":                                            {locktest.WithTTL(2 * time.Hour)},
		"a tolerance of 0s is no time by which a key may come free late; hint: ":           {locktest.WithTolerance(0)},
		"a tolerance of 11s is more than 10s":                                              {locktest.WithTolerance(11 * time.Second)},
		"a patience of 0s is no time to return in; hint: ":                                 {locktest.WithPatience(0)},
		"a patience of 1h0m0s is more than 10m0s":                                          {locktest.WithPatience(time.Hour)},
		"a polling interval of 0s is no time between two tries; hint: ":                    {locktest.WithPolling(0)},
		"a polling interval of -1s is no time between two tries; hint: ":                   {locktest.WithPolling(-time.Second)},
		"a polling interval of 1m0s is more than 10s":                                      {locktest.WithPolling(time.Minute)},
		"a timeout of 0s is too short for a server to answer in; hint: ":                   {locktest.WithTimeout(0)},
		"a timeout of 11s is more than 10s":                                                {locktest.WithTimeout(11 * time.Second)},
		"WithServer was given nil":                                                         {locktest.WithServer(nil)},
		"no lease and to renew its leases":                                                 {locktest.WithSession(), locktest.WithRenewal()},
		"in 2 ways: wakes its waiters (within 100ms), polls every 1s; hint: one of them, ": {locktest.WithWaking(), locktest.WithPolling(time.Second)},
	} {
		if _, err := locktest.Try(t.Context(), plainOwners(), given...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q in it", err, want)
		}
	}
}

// TestDeclarationsAreSaid checks that declarations are in the result and, for the checker, in the
// history.
func TestDeclarationsAreSaid(t *testing.T) {
	for _, c := range []struct {
		options []locktest.RunOption
		want    string
		wakes   time.Duration
	}{
		{nil, "", 0},
		{[]locktest.RunOption{locktest.WithTolerance(time.Second)}, "a tolerance of 1s", 0},
		{[]locktest.RunOption{locktest.WithWaking()}, "wakes its waiters (within 100ms)", 100 * time.Millisecond},
		{[]locktest.RunOption{locktest.WithPolling(time.Second), locktest.WithTimeout(time.Second), locktest.WithPatience(time.Minute)},
			"polls every 1s, gives a try up after 1s, a call takes up to 1m0s", time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			trial := tried(t, plainOwners(), append(c.options, locktest.WithCases(lockbench.Exclusion.At(0)))...)
			if got := strings.Join(trial.Notes, ", "); got != c.want {
				t.Errorf("declared: got %q, want %q", got, c.want)
			}
			src, err := history.Open(testOf(trial, lockbench.Exclusion.At(0)).History)
			if err != nil {
				t.Fatal(err)
			}
			if got := src.Header().WakesNS; got != int64(c.wakes) {
				t.Errorf("%q: got wakes of %d ns, want %v", c.want, got, c.wakes)
			}
		})
	}
}

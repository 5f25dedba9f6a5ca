package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted is a locker with answers set by a test.
type scripted struct {
	lease  lockbench.Lease
	err    error
	during func() // runs inside Acquire
}

func (s *scripted) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	if s.during != nil {
		s.during()
	}
	return s.lease, s.err
}

// plain is a lease with no ability.
type plain struct{ err error }

func (p *plain) Release(context.Context) error { return p.err }

// able is a lease with every ability.
type able struct {
	plain
	from    time.Time
	granted time.Duration
	lost    chan struct{}
}

func (a *able) Extend(context.Context, time.Duration) error       { return a.err }
func (a *able) ReleaseAfter(context.Context, time.Duration) error { return a.err }
func (a *able) TTL(context.Context) (time.Duration, error)        { return time.Second, nil }
func (a *able) Fence() uint64                                     { return 42 }
func (a *able) Lost() <-chan struct{}                             { return a.lost }
func (a *able) Valid() (time.Time, time.Duration)                 { return a.from, a.granted }

// record runs events against a recorder and returns the operations read back.
func record(t *testing.T, reacquire string, events func(*history.Recorder)) []history.Op {
	t.Helper()
	var file bytes.Buffer
	r, err := history.NewRecorder(&file, history.Header{Design: "test", Reacquire: reacquire})
	if err != nil {
		t.Fatal(err)
	}
	events(r)
	if err := r.Close(history.Trailer{}); err != nil {
		t.Fatal(err)
	}
	src, err := history.NewSource(&file)
	if err != nil {
		t.Fatal(err)
	}
	return calls(t, src)
}

// calls returns each operation of a source, by call.
func calls(t *testing.T, src history.Source) []history.Op {
	t.Helper()
	var ops []history.Op
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Phase == history.Call {
			ops = append(ops, *ev.Op)
		}
	}
	return ops
}

var ctx = context.Background()

// errDenied is a server's answer to a user without a permission.
var errDenied = errors.New("NOPERM this user has no permissions to run the 'evalsha' command")

func addr(port int) net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }

// TestErrorWordsAreBounded: a history keeps 64 different words of errors, and the class of all.
func TestErrorWordsAreBounded(t *testing.T) {
	const calls = 70
	ops := record(t, "refused", func(r *history.Recorder) {
		for i := range 2 * calls { // each words twice
			locker := r.Client(int32(i), 1).Locker(&scripted{err: fmt.Errorf("it failed %d times", i/2)})
			if _, err := locker.Acquire(ctx, "k", lockbench.Options{}); err == nil {
				t.Fatal("no error")
			}
		}
	})
	worded := 0
	for _, op := range ops {
		if op.ErrorClass() != "error" {
			t.Errorf("class %q, want error", op.ErrorClass())
		}
		if op.ErrorWords() != "" {
			worded++
		}
	}
	if len(ops) != 2*calls || worded != 2*64 {
		t.Errorf("%d of %d operations have words, want %d of %d", worded, len(ops), 2*64, 2*calls)
	}
}

func TestOutcomes(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want history.Op
	}{
		{"ok", nil, history.Op{Outcome: history.OK}},
		{"refused", fmt.Errorf("busy: %w", lockbench.ErrNotAcquired), history.Op{Outcome: history.Refused}},
		{"lost", fmt.Errorf("gone: %w", lockbench.ErrNotHeld), history.Op{Outcome: history.LossReported}},
		{"late", fmt.Errorf("over: %w", lockbench.ErrLate), history.Op{Outcome: history.OK, Late: true}},
		{"failed", fmt.Errorf("%w: %w", lockbench.ErrNoEffect, context.Canceled), history.Op{Outcome: history.Failed, Note: "canceled: context canceled"}},
		{"timeout", fmt.Errorf("read: %w", context.DeadlineExceeded), history.Op{Note: "timeout: context deadline exceeded"}},
		{"connection", fmt.Errorf("read: %w", io.EOF), history.Op{Note: "connection: EOF"}},
		{"redis", fmt.Errorf("eval: %w", errors.New("NOSCRIPT No matching script")), history.Op{Note: "noscript: NOSCRIPT No matching script"}},
		{"redis, beside another", fmt.Errorf("%w: %w", lockbench.ErrNoEffect, errors.New("LOADING it is")), history.Op{Outcome: history.Failed, Note: "loading: LOADING it is"}},
		{"redis, told otherwise", errors.New("cannot unlock: NOSCRIPT No matching script"), history.Op{Note: "noscript: cannot unlock: NOSCRIPT No matching script"}},
		{"pool", errors.New("redis: connection pool timeout"), history.Op{Note: "pool-timeout: redis: connection pool timeout"}},
		{"other", errors.New("what is this"), history.Op{Note: "error: what is this"}},
		{"long, with what cannot be printed", errors.New("a\x1b[31m\n" + strings.Repeat("é", 200)), history.Op{Note: "error: a\\x1b[31m\\n" + strings.Repeat("é", 94)}},
		{"stale", fmt.Errorf("%w: %w: fence 3", lockbench.ErrNoEffect, lockbench.ErrStale), history.Op{Outcome: history.Failed, Note: "stale"}},
		{"no permission, told as a refusal", fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, errDenied), history.Op{Note: "noperm: " + errDenied.Error()}},
		{"no permission, told as a refusal in words", fmt.Errorf("%w: %v", lockbench.ErrNotAcquired, errDenied), history.Op{Note: "noperm: " + errDenied.Error()}},
		{"no permission, told as a loss", fmt.Errorf("%w: %w", lockbench.ErrNotHeld, errDenied), history.Op{Note: "noperm: " + errDenied.Error()}},
		{"no permission, certainly without effect", fmt.Errorf("%w: %w: %w", lockbench.ErrNotAcquired, lockbench.ErrNoEffect, errDenied), history.Op{Outcome: history.Failed, Note: "noperm: " + errDenied.Error()}},
		{"refused over a connection that broke", fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, io.EOF), history.Op{Outcome: history.Refused}},
		{"nobody listens", fmt.Errorf("dial: %w", &net.OpError{Op: "dial", Net: "tcp", Source: addr(5000), Addr: addr(6379), Err: syscall.ECONNREFUSED}),
			history.Op{Note: "connection-refused: dial tcp 127.0.0.1:6379: connection refused"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ops := record(t, "refused", func(r *history.Recorder) {
				c := r.Client(7, 3)
				lease, err := c.Locker(&scripted{lease: &plain{err: tt.err}}).Acquire(ctx, "k", lockbench.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := lease.Release(ctx); !errors.Is(err, tt.err) {
					t.Errorf("Release returned %v, want the lock's own error %v", err, tt.err)
				}
			})
			got := history.Op{Outcome: ops[1].Outcome, Late: ops[1].Late, Note: ops[1].Note}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("the release's outcome (-got +want):\n%s", diff)
			}
			if ops[1].Client != 7 || ops[1].Process != 3 || ops[1].Hold != 7<<32|1 || ops[0].Hold != ops[1].Hold {
				t.Errorf("the release belongs to client %d, process %d, hold %d of %d", ops[1].Client, ops[1].Process, ops[1].Hold, ops[0].Hold)
			}
		})
	}
}

func TestAcquireAnchor(t *testing.T) {
	second := int64(time.Second)
	tests := []struct {
		name     string
		opt      lockbench.Options
		attempts int
		told     func(*history.Recorder) *able // nil: no Validator
		want     func(op history.Op) (attempt, granted int64, attempts int32)
	}{
		{"no wait, nothing told", lockbench.Options{TTL: time.Second}, 0, nil,
			func(op history.Op) (int64, int64, int32) { return op.Call, second, 1 }},
		{"waited, nothing told", lockbench.Options{TTL: time.Second, Wait: 1}, 0, nil,
			func(op history.Op) (int64, int64, int32) { return history.NoStamp, second, 0 }},
		{"attempts told", lockbench.Options{TTL: time.Second, Wait: 1}, 3, nil,
			func(op history.Op) (int64, int64, int32) { return max(op.Attempt, op.Call+1), second, 3 }},
		{"the lease reports it", lockbench.Options{TTL: time.Second}, 1,
			func(r *history.Recorder) *able { return &able{from: r.Base().Add(5), granted: 2 * time.Second} },
			func(op history.Op) (int64, int64, int32) { return 5, 2 * second, 1 }},
		{"the lease reports the future", lockbench.Options{TTL: time.Second}, 0,
			func(r *history.Recorder) *able { return &able{from: r.Base().Add(time.Hour), granted: 2 * time.Second} },
			func(op history.Op) (int64, int64, int32) { return op.Call, second, 1 }},
		{"waited, the lease reports its length alone", lockbench.Options{TTL: time.Second, Wait: 1}, 0,
			func(r *history.Recorder) *able { return &able{granted: 2 * time.Second} },
			func(op history.Op) (int64, int64, int32) { return history.NoStamp, 2 * second, 0 }},
		{"the lease reports nothing", lockbench.Options{TTL: time.Second}, 0,
			func(r *history.Recorder) *able { return &able{} },
			func(op history.Op) (int64, int64, int32) { return op.Call, second, 1 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op := record(t, "refused", func(r *history.Recorder) {
				c := r.Client(1, 1)
				inner := &scripted{lease: &plain{}}
				if tt.told != nil {
					inner.lease = tt.told(r)
				}
				inner.during = func() {
					for range tt.attempts {
						time.Sleep(time.Nanosecond) // so that the clock moves on from the call
						c.Attempt("k")
						c.Attempt("another key")
					}
				}
				if _, err := c.Locker(inner).Acquire(ctx, "k", tt.opt); err != nil {
					t.Fatal(err)
				}
			})[0]
			attempt, granted, attempts := tt.want(op)
			if op.Attempt != attempt || op.Granted != granted || op.Attempts != attempts {
				t.Errorf("attempt %d, granted %d, %d attempts; want %d, %d, %d", op.Attempt, op.Granted, op.Attempts, attempt, granted, attempts)
			}
		})
	}
}

// TestIntendedStart: the timetable speaks of one acquire, and never of a time after it.
func TestIntendedStart(t *testing.T) {
	var due time.Duration
	ops := record(t, "nested", func(r *history.Recorder) {
		c := r.Client(1, 1)
		locker := c.Locker(&scripted{lease: &plain{}})
		due = time.Duration(r.Now())
		c.Intended(r.Base().Add(due))
		_, _ = locker.Acquire(ctx, "late", lockbench.Options{})
		_, _ = locker.Acquire(ctx, "nested", lockbench.Options{})
		c.Intended(r.Base().Add(time.Hour))
		_, _ = locker.Acquire(ctx, "too early", lockbench.Options{})
		c.Intended(r.Base())
		_, _ = locker.Acquire(ctx, "at the very start", lockbench.Options{})
	})
	got := []int64{ops[0].Intended, ops[1].Intended, ops[2].Intended, ops[3].Intended}
	if diff := cmp.Diff(got, []int64{int64(due), 0, ops[2].Call, 1}); diff != "" {
		t.Errorf("intended starts (-got +want):\n%s", diff)
	}
}

// TestLeaseThatWouldBeGiven: an unanswered acquire may have left the lease that the design
// gives, not the requested one.
func TestLeaseThatWouldBeGiven(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want time.Duration
	}{
		{"unanswered", errors.New("connection lost"), 2 * time.Second},
		{"granted, telling nothing", nil, 1500 * time.Millisecond},
		{"refused", lockbench.ErrNotAcquired, 0},
		{"failed", lockbench.ErrNoEffect, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			op := record(t, "refused", func(r *history.Recorder) {
				client := r.Client(1, 1)
				client.Grants(func(asked time.Duration) time.Duration { return asked + 500*time.Millisecond })
				_, _ = client.Locker(&scripted{lease: &plain{}, err: c.err}).Acquire(ctx, "k", lockbench.Options{TTL: 1500 * time.Millisecond})
			})[0]
			if got := time.Duration(op.Granted); got != c.want {
				t.Errorf("granted %v, want %v", got, c.want)
			}
		})
	}
}

func TestExtendAnchor(t *testing.T) {
	tests := []struct {
		name    string
		from    func(*history.Recorder) time.Time
		granted time.Duration // as the lease reports
		want    time.Duration
		anchor  func(op history.Op) int64
	}{
		{"told anew", func(r *history.Recorder) time.Time { return time.Now() }, 3 * time.Second, 3 * time.Second,
			func(op history.Op) int64 { return max(op.Attempt, op.Call) }},
		{"still the acquire's", func(r *history.Recorder) time.Time { return r.Base() }, 3 * time.Second, 2 * time.Second,
			func(op history.Op) int64 { return op.Call }},
		{"nothing told", func(r *history.Recorder) time.Time { return time.Time{} }, 0, 2 * time.Second,
			func(op history.Op) int64 { return op.Call }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op := record(t, "refused", func(r *history.Recorder) {
				c := r.Client(1, 1)
				inner := &extending{renew: func() (time.Time, time.Duration) { return tt.from(r), tt.granted }}
				lease, err := c.Locker(&scripted{lease: inner}).Acquire(ctx, "k", lockbench.Options{TTL: time.Second})
				if err != nil {
					t.Fatal(err)
				}
				if err := lease.(lockbench.Extender).Extend(ctx, 2*time.Second); err != nil {
					t.Fatal(err)
				}
			})[1]
			if op.Kind != history.Extend || op.Asked != int64(2*time.Second) || op.Granted != int64(tt.want) {
				t.Errorf("recorded a %s of %d, granted %d; want %d", op.Kind, op.Asked, op.Granted, tt.want)
			}
			if want := tt.anchor(op); op.Attempt != want || op.Attempt > op.Return {
				t.Errorf("its validity starts at %d, want %d (call %d, return %d)", op.Attempt, want, op.Call, op.Return)
			}
		})
	}
}

// extending is a lease with a validity that renew gives at its extend.
type extending struct {
	able
	renew func() (time.Time, time.Duration)
}

func (e *extending) Extend(context.Context, time.Duration) error {
	e.from, e.granted = e.renew()
	return nil
}

func TestHoldNames(t *testing.T) {
	const first, second = 1<<32 | 1, 1<<32 | 2
	tests := []struct {
		name      string
		reacquire string
		script    string // a acquire, r release, u unknown, x refused, l lost, f failed, w write
		want      []int64
	}{
		{"two in turn", "refused", "a r a r", []int64{first, first, second, second}},
		{"nested share a hold", "nested", "a a w r w r a", []int64{first, first, first, first, first, first, second}},
		{"refreshes are not counted", "refreshed", "a a r a", []int64{first, first, first, second}},
		{"a refused acquire has none", "nested", "x a x a", []int64{0, second, 0, second}},
		{"an unknown acquire has one", "nested", "u a w", []int64{first, second, second}},
		{"an unknown nested acquire does not count", "nested", "a u r w", []int64{first, first, first, 0}},
		{"an unknown release counts", "nested", "a U a", []int64{first, first, second}},
		{"a failed release does not", "nested", "a F a", []int64{first, first, first}},
		{"after a loss a new one", "nested", "a a L w a w", []int64{first, first, first, first, second, second}},
		{"no hold, none named", "refused", "w a r w", []int64{0, first, first, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ops := record(t, tt.reacquire, func(r *history.Recorder) { perform(t, r.Client(1, 1), tt.script) })
			var got []int64
			for _, op := range ops {
				got = append(got, op.Hold)
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("the holds (-got +want):\n%s", diff)
			}
		})
	}
}

// perform runs a script, releasing the latest lease first.
func perform(t *testing.T, c *history.Client, script string) {
	t.Helper()
	answers := map[rune]error{'u': io.EOF, 'U': io.EOF, 'x': lockbench.ErrNotAcquired, 'L': lockbench.ErrNotHeld, 'F': lockbench.ErrNoEffect}
	inner, given := &scripted{}, &plain{}
	inner.lease = given
	locker, store := c.Locker(inner), c.Store(nowhere{})
	var leases []lockbench.Lease
	for _, step := range script {
		switch step {
		case 'a', 'u', 'x':
			inner.err = answers[step]
			if lease, err := locker.Acquire(ctx, "k", lockbench.Options{}); err == nil {
				leases = append(leases, lease)
			}
		case 'r', 'U', 'L', 'F':
			given.err = answers[step]
			_ = leases[len(leases)-1].Release(ctx)
			leases = leases[:len(leases)-1]
		case 'w':
			if err := store.Write(ctx, "k", lockbench.Record{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// nowhere is a store that forgets.
type nowhere struct{}

func (nowhere) Read(context.Context, string) (lockbench.Record, error) {
	return lockbench.Record{Value: 9, Version: 8}, nil
}
func (nowhere) Write(context.Context, string, lockbench.Record) error { return nil }

func TestStoreBase(t *testing.T) {
	ops := record(t, "refused", func(r *history.Recorder) {
		c := r.Client(1, 1)
		locker, store := c.Locker(&scripted{lease: &plain{}}), c.Store(nowhere{})
		for range 2 {
			lease, _ := locker.Acquire(ctx, "k", lockbench.Options{})
			_, _ = store.Read(ctx, "k")
			_ = store.Write(ctx, "k", lockbench.Record{Value: 10, Version: 11})
			_ = lease.Release(ctx)
			_ = store.Write(ctx, "k", lockbench.Record{Value: 12, Version: 13})
		}
	})
	type row struct {
		Kind          history.Kind
		Value         int64
		Version, Base uint64
		Held          bool
	}
	var got []row
	for _, op := range ops[:5] {
		got = append(got, row{op.Kind, op.Value, op.Version, op.Base, op.Hold != 0})
	}
	want := []row{
		{history.Acquire, 0, 0, 0, true}, {history.Read, 9, 8, 0, true}, {history.Write, 10, 11, 8, true},
		{history.Release, 0, 0, 0, true}, {history.Write, 12, 13, 0, false},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("the accesses (-got +want):\n%s", diff)
	}
}

func TestAbilitiesArePassedOn(t *testing.T) {
	r, err := history.NewRecorder(io.Discard, history.Header{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close(history.Trailer{}) }()
	bare, _ := r.Client(1, 1).Locker(&scripted{lease: &plain{}}).Acquire(ctx, "k", lockbench.Options{})
	full, _ := r.Client(2, 1).Locker(&scripted{lease: &able{}}).Acquire(ctx, "k", lockbench.Options{})
	if _, ok := lockbench.Ability[lockbench.Extender](bare); ok {
		t.Error("a lease without abilities shows one when recorded")
	}
	fencer, ok := lockbench.Ability[lockbench.Fencer](full)
	if !ok || fencer.Fence() != 42 {
		t.Error("the fence of a recorded lease does not come through")
	}
	if left, err := full.(lockbench.TTLer).TTL(ctx); err != nil || left != time.Second {
		t.Errorf("TTL = %v, %v through the recorder, want 1s", left, err)
	}
}

func TestLossIsRecordedBeforeItIsSeen(t *testing.T) {
	ops := record(t, "refused", func(r *history.Recorder) {
		inner := &able{lost: make(chan struct{})}
		lease, _ := r.Client(1, 1).Locker(&scripted{lease: inner}).Acquire(ctx, "k", lockbench.Options{})
		close(inner.lost)
		<-lease.(lockbench.Watcher).Lost()
		_ = lease.Release(ctx)
	})
	if len(ops) != 3 || ops[1].Kind != history.Lost || ops[1].Hold != ops[0].Hold || ops[1].Call > ops[2].Call {
		t.Errorf("recorded %v, want acquire, lost, release of one hold", ops)
	}
}

func TestLostClosedByTheReleaseIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ops := record(t, "refused", func(r *history.Recorder) {
			inner := &closing{able{lost: make(chan struct{})}}
			lease, _ := r.Client(1, 1).Locker(&scripted{lease: inner}).Acquire(ctx, "k", lockbench.Options{})
			_ = lease.Release(ctx)
			synctest.Wait() // every watcher has seen it now
		})
		if len(ops) != 2 {
			t.Errorf("recorded %v, want acquire and release only", ops)
		}
	})
}

// closing is a lease that closes Lost when it is released.
type closing struct{ able }

func (c *closing) Release(context.Context) error {
	close(c.lost)
	return nil
}

func TestCloseRecordsWhatIsUnderWay(t *testing.T) {
	began, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	ops := record(t, "refused", func(r *history.Recorder) {
		c := r.Client(1, 1)
		stuck := &scripted{lease: &plain{}, during: func() { close(began); <-goOn }}
		go func() {
			defer close(ended)
			if lease, err := c.Locker(stuck).Acquire(ctx, "k", lockbench.Options{}); err == nil {
				_ = lease.Release(ctx)
			}
		}()
		<-began
	})
	close(goOn)
	<-ended
	if len(ops) != 1 || ops[0].Outcome != history.Unknown || ops[0].Return != history.Never || ops[0].Hold == 0 || ops[0].Attempt != ops[0].Call {
		t.Errorf("recorded %+v, want one unknown acquire that never returned", ops)
	}
}

// full is a disk without space, after the first n bytes.
type full struct{ n int }

var errFull = errors.New("no space left on device")

func (f *full) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestDiskFull(t *testing.T) {
	r, err := history.NewRecorder(&full{n: 4096}, history.Header{})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Client(1, 1)
	for range 100_000 {
		c.Event(history.Pause, "", "")
	}
	if err := r.Close(history.Trailer{}); !errors.Is(err, errFull) || !errors.Is(r.Err(), errFull) {
		t.Errorf("Close returned %v and Err %v, want the disk's error", err, r.Err())
	}
	c.Event(history.Pause, "", "after the end")
	if _, err := history.NewRecorder(&full{}, history.Header{}); !errors.Is(err, errFull) {
		t.Errorf("NewRecorder on a full disk returned %v, want the disk's error", err)
	}
}

// TestRecordingAllocatesNothing: allocations of a client beside the lock under test would be
// taken for the lock's own cost. The few allocations that a hundred operations share, for
// leases and for batches, round to none.
func TestRecordingAllocatesNothing(t *testing.T) {
	r, err := history.NewRecorder(io.Discard, history.Header{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close(history.Trailer{}) }()
	tape := history.NewTape(history.Header{})
	for name, c := range map[string]*history.Client{"recorder": r.Client(1, 1), "tape": tape.Client(1, 1)} {
		t.Run(name, func(t *testing.T) {
			inner := &scripted{lease: &telling{granted: time.Second}, during: func() { c.Attempt("key") }}
			locker, store := c.Locker(inner), c.Store(nowhere{})
			once := func() {
				lease, _ := locker.Acquire(ctx, "key", lockbench.Options{TTL: time.Second})
				_, _ = store.Read(ctx, "key")
				_ = store.Write(ctx, "key", lockbench.Record{})
				c.Event(history.Pause, "key", "test")
				_ = lease.Release(ctx)
			}
			if n := testing.AllocsPerRun(1000, once); n != 0 {
				t.Errorf("%v allocations an iteration, want none", n)
			}
		})
	}
}

func BenchmarkPair(b *testing.B) {
	r, err := history.NewRecorder(io.Discard, history.Header{})
	if err != nil {
		b.Fatal(err)
	}
	locker := r.Client(1, 1).Locker(&scripted{lease: &plain{}})
	b.ReportAllocs()
	for b.Loop() {
		lease, _ := locker.Acquire(ctx, "key", lockbench.Options{TTL: time.Second})
		_ = lease.Release(ctx)
	}
	if err := r.Close(history.Trailer{}); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkPairAttempt(b *testing.B) {
	r, err := history.NewRecorder(io.Discard, history.Header{})
	if err != nil {
		b.Fatal(err)
	}
	c := r.Client(1, 1)
	inner := &scripted{lease: &plain{}, during: func() { c.Attempt("key") }}
	locker := c.Locker(inner)
	b.ReportAllocs()
	for b.Loop() {
		lease, _ := locker.Acquire(ctx, "key", lockbench.Options{TTL: time.Second})
		_ = lease.Release(ctx)
	}
	if err := r.Close(history.Trailer{}); err != nil {
		b.Fatal(err)
	}
}

// telling is a lease that reports its validity, as most designs' do.
type telling struct {
	plain
	from    time.Time
	granted time.Duration
}

func (l *telling) Valid() (time.Time, time.Duration) { return l.from, l.granted }

// BenchmarkClients is the cost of recording a pair when many clients take turns, so that a
// client's data has left the nearest cache by its next turn. With -cpu 1 the recorder's own
// goroutine is part of it.
func BenchmarkClients(b *testing.B) {
	r, err := history.NewRecorder(io.Discard, history.Header{})
	if err != nil {
		b.Fatal(err)
	}
	var lockers [50]lockbench.Locker
	for i := range lockers {
		c := r.Client(int32(i), 1)
		told := &telling{granted: time.Second}
		lockers[i] = c.Locker(&scripted{lease: told, during: func() { told.from = c.Attempt("key") }})
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		lease, _ := lockers[n%len(lockers)].Acquire(ctx, "key", lockbench.Options{TTL: time.Second})
		_ = lease.Release(ctx)
	}
	if err := r.Close(history.Trailer{}); err != nil {
		b.Fatal(err)
	}
}

// TestRan: the times of a better clock take the place of the client's, of the attempt that they are about, and
// of no operation that never returned.
func TestRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ops := record(t, "", func(r *history.Recorder) {
			c := r.Client(0, 0)
			base := r.Base()
			at := func(ms int) time.Time { return base.Add(time.Duration(ms) * time.Millisecond) }
			to := func(ms int) { time.Sleep(time.Until(at(ms))) }
			to(10)
			attempt := func(ms int) { // sent then, it runs from 2 to 3 ms later, and is answered 4 ms later
				to(ms)
				c.Attempt("key")
				to(ms + 4)
				c.Ran(at(ms+2), at(ms+3))
			}
			during := func() { attempt(10); attempt(20) }
			inner := &scripted{lease: &plain{}, during: func() { during() }}
			lock := c.Locker(inner)
			acquire := func() {
				if _, err := lock.Acquire(ctx, "key", lockbench.Options{TTL: time.Second, Wait: time.Minute}); err != nil {
					t.Fatal(err)
				}
			}
			acquire()
			to(30)
			during = func() { attempt(30); to(40); c.Attempt("key"); to(50) } // the last attempt has no answer
			acquire()
			during = func() { to(60); c.Ran(at(0), at(100)) } // outside of the operation
			acquire()
			during = func() { attempt(70); c.Die("gone") }
			acquire()
		})
		ms := int64(time.Millisecond)
		want := [][3]int64{{12, 22, 23}, {32, 40, 50}, {50, -1, 60}, {72, 72, -1}}
		for i, w := range want {
			op, got := ops[i], [3]int64{-1, -1, -1}
			got[0] = op.Call / ms
			if op.Attempt != history.NoStamp {
				got[1] = op.Attempt / ms
			}
			if op.Return != history.Never {
				got[2] = op.Return / ms
			}
			if got != w {
				t.Errorf("acquire %d: call, attempt and return at %d ms, want %d", i, got, w)
			}
		}
	})
}

// TestComparisonsOfClocks checks the fields of events that compare clocks.
func TestComparisonsOfClocks(t *testing.T) {
	ops := record(t, "refused", func(r *history.Recorder) {
		c := r.Client(-4, -4)
		c.Probe(5, -7, 3)
		c.Clock(10, 30, -9, -4)
	})
	probe, clock := ops[0], ops[1]
	if probe.Kind != history.Probe || probe.Base != 5 || probe.Value != -7 || probe.Delay != 3 || probe.Call != probe.Return {
		t.Errorf("probe %+v", probe)
	}
	if clock.Kind != history.Clock || clock.Base != 30 || clock.Delay != 20 || clock.Value != -9 || clock.Wait != 5 || clock.Call != clock.Return {
		t.Errorf("clock %+v", clock)
	}
}

package inject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

func TestMain(m *testing.M) {
	servers.SilenceClients()
	// A closed go-redis pool that could not dial ends within a second.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// A fixture is one client in one process under faults.
type fixture struct {
	server  *servers.Server
	in      *Injector
	process *Process
	client  *Client
	redis   *redis.Client // of the process
	file    bytes.Buffer
	record  *history.Recorder
}

func newFixture(t *testing.T, all ...fault.Fault) *fixture {
	t.Helper()
	st := &fixture{server: servertest.Start(t)}
	var err error
	if st.in, err = New(Config{Faults: all, Services: []design.Service{st.server}, Lease: time.Second, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if err := st.in.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st.record, err = history.NewRecorder(&st.file, history.Header{}); err != nil {
		t.Fatal(err)
	}
	env := design.Environment{Services: []any{st.server.Reach()}, Now: time.Now}
	st.process = st.in.Process(0, &env)
	st.client = st.process.Client(0, st.record.Client(0, 0))
	on, err := onredis.From(env)
	if err != nil {
		t.Fatal(err)
	}
	st.redis = on.Connect(4)
	t.Cleanup(func() { _ = st.redis.Close() })
	if err := st.in.Prepare(t.Context(), st.record); err != nil {
		t.Fatal(err)
	}
	st.in.Start()
	return st
}

// end ends the faults and returns the recorded notes, in order.
func (st *fixture) end(t *testing.T) (notes []string) {
	t.Helper()
	if err := st.in.Stop(); err != nil {
		t.Error(err)
	}
	st.in.Close()
	if err := st.record.Close(history.Trailer{}); err != nil {
		t.Fatal(err)
	}
	src, err := history.NewSource(bytes.NewReader(st.file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Phase == history.Call {
			notes = append(notes, ev.Op.Kind.String()+" "+ev.Op.Note)
		}
	}
	return notes
}

// TestCommandUnderFault: the result of a SET for the lock, and its effect on the server.
func TestCommandUnderFault(t *testing.T) {
	for _, c := range []struct {
		kind  fault.Kind
		fails bool
		done  bool
		notes []string
	}{
		{fault.LostReply, true, true, []string{"fault lost-reply"}},
		{fault.Cut, true, false, []string{"fault cut"}},
		{fault.Crash, true, true, []string{"death crash"}}, // with this seed after the command
		{fault.Pause, false, true, []string{"pause ", "resume "}},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			st := newFixture(t, fault.Fault{Kind: c.kind, P: 1, For: time.Millisecond})
			ctx, done := st.client.Context(t.Context())
			defer done()
			err := st.redis.Set(ctx, "key", "value", 0).Err()
			if (err != nil) != c.fails {
				t.Errorf("the lock is told %v; want an error: %t", err, c.fails)
			}
			if errors.Is(onredis.NoEffect(err), lockbench.ErrNoEffect) {
				t.Errorf("%v lets the lock conclude that nothing happened", err)
			}
			if diff := cmp.Diff(st.end(t), c.notes); diff != "" {
				t.Errorf("record (-got +want):\n%s", diff)
			}
			if n := exists(t, st.server, "key"); n != c.done {
				t.Errorf("the server did it: %t, want %t", n, c.done)
			}
		})
	}
}

// TestForeignCommand: the result of a command for a lock on another client library, and
// whether it was sent. Commands that no client made are not affected.
func TestForeignCommand(t *testing.T) {
	for _, c := range []struct {
		kind  fault.Kind
		fails bool
		sent  int
		notes []string
	}{
		{fault.LostReply, true, 2, []string{"fault lost-reply"}},
		{fault.Cut, true, 1, []string{"fault cut"}},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			st := newFixture(t, fault.Fault{Kind: c.kind, P: 1})
			env := design.Environment{Interceptor: st.process}
			sent := 0
			send := func(context.Context) error { sent++; return nil }
			ctx, done := st.client.Context(t.Context())
			defer done()
			if err := env.Pass(ctx, send); (err != nil) != c.fails {
				t.Errorf("the lock is told %v; want an error: %t", err, c.fails)
			}
			if err := env.Pass(t.Context(), send); err != nil {
				t.Errorf("a command in the background: %v; want it not affected", err)
			}
			if sent != c.sent {
				t.Errorf("%d commands were sent, want %d", sent, c.sent)
			}
			if diff := cmp.Diff(st.end(t), c.notes); diff != "" {
				t.Errorf("record (-got +want):\n%s", diff)
			}
		})
	}
}

// TestConnectionBrokenByTheServer: where lockbench does not see the commands of a process, a
// connection that the server breaks may have cut any of them.
func TestConnectionBrokenByTheServer(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(*fixture)
		breaks func(mine, servers net.Conn)
		notes  []string
	}{
		{"by the server", func(*fixture) {}, func(_, servers net.Conn) { _ = servers.Close() }, []string{"fault cut"}},
		{"by the process itself", func(*fixture) {}, func(mine, _ net.Conn) { _ = mine.Close() }, nil},
		{"of a process whose commands are seen", func(st *fixture) { st.process.watched.Store(true) },
			func(_, servers net.Conn) { _ = servers.Close() }, nil},
		{"after the faults and the clients", func(st *fixture) { st.in.active.Store(false) },
			func(_, servers net.Conn) { _ = servers.Close() }, nil},
		{"after the faults, in a call", func(st *fixture) { st.in.active.Store(false); st.client.acquiring.Store(true) },
			func(_, servers net.Conn) { _ = servers.Close() }, []string{"fault cut"}},
		{"after the faults, under a lock", func(st *fixture) { st.in.active.Store(false); st.client.hold(1) },
			func(_, servers net.Conn) { _ = servers.Close() }, []string{"fault cut"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := newFixture(t)
			c.before(st)
			near, far := net.Pipe()
			conn, err := st.process.dialer(func(context.Context, string, string) (net.Conn, error) { return near, nil })(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			c.breaks(conn, far)
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Error("a read of a broken connection succeeds")
			}
			if diff := cmp.Diff(st.end(t), c.notes); diff != "" {
				t.Errorf("record (-got +want):\n%s", diff)
			}
		})
	}
}

// TestRequestThatBreaks: the other side breaks the connection of a request, also of one that was to meet a fault that
// its end prevents, or that outlasts the faults. The cut is on the record of its client.
func TestRequestThatBreaks(t *testing.T) {
	ends := func(p phase) func(*fixture, context.Context) context.Context {
		return func(st *fixture, ctx context.Context) context.Context {
			e := &ending{plan: &plan{}, phase: p, cancel: func() {}}
			e.commands.Store(1)
			return context.WithValue(ctx, callKey{}, &call{st.client, e})
		}
	}
	for _, c := range []struct {
		name   string
		faults []fault.Fault
		before func(*fixture, context.Context) context.Context
		notes  []string
	}{
		{"no fault", nil, nil, []string{"fault cut"}},
		{"its reply was to be lost", []fault.Fault{{Kind: fault.LostReply, P: 1}}, nil, []string{"fault cut"}},
		{"its process was to pause", []fault.Fault{{Kind: fault.Pause, P: 1, For: time.Millisecond}}, nil,
			[]string{"pause ", "resume ", "fault cut"}},
		{"its context was to end during it", nil, ends(underWay), []string{"fault cut"}},
		{"its context ends after it", nil, ends(answered), []string{"fault cut", "fault cancel"}},
		{"the faults are over", []fault.Fault{{Kind: fault.LostReply, P: 1}},
			func(st *fixture, ctx context.Context) context.Context { st.in.active.Store(false); return ctx }, []string{"fault cut"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := newFixture(t, c.faults...)
			ctx, done := st.client.Context(t.Context())
			defer done()
			if c.before != nil {
				ctx = c.before(st, ctx)
			}
			err := st.process.command(&request{ctx, []redis.Cmder{redis.NewStatusCmd(ctx, "ping")},
				func(context.Context, []redis.Cmder) error { return io.EOF }})
			if !errors.Is(err, io.EOF) {
				t.Errorf("the lock is told %v", err)
			}
			if diff := cmp.Diff(st.end(t), c.notes); diff != "" {
				t.Errorf("record (-got +want):\n%s", diff)
			}
		})
	}
}

// TestRequestBeforeClients: a request that breaks while a process opens is an error of the design, and not on record.
func TestRequestBeforeClients(t *testing.T) {
	in, err := New(Config{Faults: []fault.Fault{{Kind: fault.LostReply, P: 1}}, Services: []design.Service{servertest.Start(t)}})
	if err != nil {
		t.Fatal(err)
	}
	p := in.Process(0, &design.Environment{})
	err = p.command(&request{t.Context(), []redis.Cmder{redis.NewStatusCmd(t.Context(), "ping")},
		func(context.Context, []redis.Cmder) error { return io.EOF }})
	if !errors.Is(err, io.EOF) {
		t.Errorf("the design is told %v", err)
	}
}

// TestCloseBesideDeaths: processes that die while the Injector is closed leave no relay behind, and none opens later.
func TestCloseBesideDeaths(t *testing.T) {
	st := newFixture(t, fault.Fault{Kind: fault.Slow, At: time.Hour, By: time.Millisecond, For: time.Millisecond})
	var all []*Process
	for i := range 20 {
		p := st.in.Process(1+i, &design.Environment{})
		if _, err := p.relayTo("127.0.0.1:1"); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	var deaths sync.WaitGroup
	for _, p := range all {
		deaths.Go(func() { p.crash() })
	}
	st.in.Close()
	deaths.Wait()
	late := st.in.Process(30, &design.Environment{})
	if by, err := late.relayTo("127.0.0.1:1"); err == nil {
		by.Close()
		t.Error("a relay opens after Close")
	}
	st.end(t)
}

// TestNetworkOutlastsTheFaults: a client that ends after the faults still reaches the server.
func TestNetworkOutlastsTheFaults(t *testing.T) {
	st := newFixture(t, fault.Fault{Kind: fault.Slow, At: time.Hour, By: time.Millisecond, For: time.Millisecond})
	ping := func() error { return st.redis.Ping(t.Context()).Err() }
	if err := ping(); err != nil {
		t.Fatal(err)
	}
	if err := st.in.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := ping(); err != nil {
		t.Errorf("after the faults: %v", err)
	}
	st.in.Close()
	if ping() == nil {
		t.Error("after Close: the server answers through a closed relay")
	}
	if diff := cmp.Diff(st.end(t), []string(nil)); diff != "" {
		t.Errorf("record (-got +want):\n%s", diff)
	}
}

// TestDeathBeforeARelease: a process with unseen commands may die before a release, which
// leaves the lock held. A process with visible commands dies at a command.
func TestDeathBeforeARelease(t *testing.T) {
	for _, watched := range []bool{false, true} {
		t.Run(fmt.Sprint("watched ", watched), func(t *testing.T) {
			st := newFixture(t, fault.Fault{Kind: fault.Crash, P: 1})
			st.process.watched.Store(watched)
			inner := &released{}
			held := &heldLease{Wrapped: lockbench.Wrapped{Lease: inner}, client: st.client}
			err := held.Release(t.Context())
			if dies := !watched; errors.Is(err, errCrashed) != dies || inner.times == 0 != dies || st.process.Crashed() != dies {
				t.Errorf("got error %v, %d releases, crashed: %t", err, inner.times, st.process.Crashed())
			}
			st.end(t)
		})
	}
}

// released counts its releases.
type released struct{ times int }

// Release implements [lockbench.Lease].
func (r *released) Release(context.Context) error {
	r.times++
	return nil
}

func exists(t *testing.T, s *servers.Server, key string) bool {
	t.Helper()
	client := redis.NewClient(s.Options())
	defer client.Close()
	n, err := client.Exists(t.Context(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// TestCrashedProcess: a crashed process sends nothing, whatever the caller, and its
// connections are closed, subscriptions, too.
func TestCrashedProcess(t *testing.T) {
	st := newFixture(t, fault.Fault{Kind: fault.Crash, P: 1})
	sub := st.redis.Subscribe(t.Context(), "channel")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, done := st.client.Context(t.Context())
	defer done()
	_ = st.redis.Set(ctx, "affected", "", 0).Err()
	if !st.process.Crashed() || !st.client.Crashed() || ctx.Err() == nil {
		t.Fatalf("process crashed %t, client crashed %t, context %v", st.process.Crashed(), st.client.Crashed(), ctx.Err())
	}
	for name, ctx := range map[string]context.Context{"client": ctx, "background": t.Context()} {
		if err := st.redis.Set(ctx, "after", "", 0).Err(); !errors.Is(err, errCrashed) && !errors.Is(err, context.Canceled) {
			t.Errorf("command of the %s: %v; want it to have crashed", name, err)
		}
	}
	if _, err := sub.Receive(t.Context()); err == nil {
		t.Error("the subscription goes on")
	}
	late := st.process.Client(1, st.record.Client(1, 0))
	if !late.Crashed() {
		t.Error("a client that moves into a crashed process lives")
	}
	st.end(t)
	if exists(t, st.server, "after") {
		t.Error("a command was sent after the death")
	}
}

// TestTransactionUnderFault: a transaction is affected as a whole, and its commands say
// so.
func TestTransactionUnderFault(t *testing.T) {
	st := newFixture(t, fault.Fault{Kind: fault.LostReply, P: 1})
	ctx, done := st.client.Context(t.Context())
	defer done()
	var one, two *redis.StatusCmd
	_, err := st.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		one, two = p.Set(ctx, "one", "1", 0), p.Set(ctx, "two", "2", 0)
		return nil
	})
	if err == nil || one.Err() == nil || two.Err() == nil {
		t.Errorf("errors %v, %v, %v; want three", err, one.Err(), two.Err())
	}
	if diff := cmp.Diff(st.end(t), []string{"fault lost-reply"}); diff != "" {
		t.Errorf("record (-got +want):\n%s", diff)
	}
	if !exists(t, st.server, "one") || !exists(t, st.server, "two") {
		t.Error("the server did not run the transaction")
	}
}

// setting is a lock that sets its key, and shows whether its context ended.
type setting struct {
	redis *redis.Client
	ended *bool
}

func (s setting) Acquire(ctx context.Context, key string, _ lockbench.Options) (lockbench.Lease, error) {
	err := s.redis.Set(ctx, key, "", 0).Err()
	*s.ended = ctx.Err() != nil
	return s, err
}

// Release and Extend set it again.
func (s setting) Release(ctx context.Context) error { return s.again(ctx) }

func (s setting) Extend(ctx context.Context, _ time.Duration) error { return s.again(ctx) }

func (s setting) again(ctx context.Context) error {
	err := s.redis.Set(ctx, "again", "", 0).Err()
	*s.ended = *s.ended || ctx.Err() != nil
	return err
}

// TestCancelOfOtherCalls: the contexts of releases and extends end, too.
func TestCancelOfOtherCalls(t *testing.T) {
	st := newFixture(t, fault.Fault{Kind: fault.Cancel, P: 1})
	ctx, done := st.client.Context(t.Context())
	defer done()
	calls := map[string]func(lockbench.Lease) error{
		"release": func(l lockbench.Lease) error { return l.Release(ctx) },
		"extend": func(l lockbench.Lease) error {
			extender, _ := lockbench.Ability[lockbench.Extender](l)
			return extender.Extend(ctx, time.Second)
		},
	}
	for name, call := range calls {
		var ended, met bool
		for range 60 {
			lease := &heldLease{Wrapped: lockbench.Wrapped{Lease: setting{st.redis, &ended}}, client: st.client, done: func() {}}
			ended = false
			_ = call(lease)
			met = met || ended
		}
		if !met {
			t.Errorf("the context of no %s ended", name)
		}
	}
	st.end(t)
}

// TestCancel: an acquire's context ends before its command, during it or after it.
func TestCancel(t *testing.T) {
	st := newFixture(t, fault.Fault{Kind: fault.Cancel, P: 1})
	ctx, done := st.client.Context(t.Context())
	defer done()
	var ended bool
	lock := st.client.Locker(setting{st.redis, &ended})
	seen := map[string]bool{}
	for i := range 60 {
		key := fmt.Sprint("key", i)
		lease, err := lock.Acquire(ctx, key, lockbench.Options{})
		switch ran := exists(t, st.server, key); {
		case !ended && err == nil: // it was to end about a later command
			seen["not"] = true
		case !ended:
			t.Fatalf("%s: %v before the context ended", key, err)
		case errors.Is(err, context.Canceled) && ran:
			seen["during"] = true
		case errors.Is(err, context.Canceled):
			seen["before"] = true
		case err == nil && ran:
			seen["after"] = true
		default:
			t.Fatalf("%s: %v, run %t", key, err, ran)
		}
		if err == nil {
			_ = lease.Release(ctx)
		}
	}
	want := map[string]bool{"not": true, "before": true, "during": true, "after": true}
	if diff := cmp.Diff(seen, want); diff != "" {
		t.Errorf("when contexts ended (-got +want):\n%s", diff)
	}
	if x := st.in.Exposures()[0]; x.Occurrences == 0 || x.MetAcquire+x.MetHeld != x.Occurrences || int(x.Occurrences) != len(st.end(t)) {
		t.Errorf("exposure %+v; want as many as are recorded, all met by a call", x)
	}
}

// TestChoicesFollowTheSeed: the same seed and client draw the same, another pair does not.
func TestChoicesFollowTheSeed(t *testing.T) {
	draw := func(seed uint64, client int64) (drawn []bool) {
		in := &Injector{config: Config{Seed: seed}}
		a := newActor(in, client)
		for range 64 {
			drawn = append(drawn, a.chance(0.5))
		}
		return drawn
	}
	if diff := cmp.Diff(draw(1, 1), draw(1, 1)); diff != "" {
		t.Errorf("the same seed and client draw otherwise:\n%s", diff)
	}
	if cmp.Equal(draw(1, 1), draw(2, 1)) || cmp.Equal(draw(1, 1), draw(1, 2)) {
		t.Error("another seed or client draws the same")
	}
}

// TestNoCallEndsBeforeDeath: a call that fails because its process has crashed fails after the death of
// its client. A command under way holds the death up.
func TestNoCallEndsBeforeDeath(t *testing.T) {
	for name, call := range map[string]func(*fixture) error{
		"command": func(st *fixture) error { return st.redis.Set(context.Background(), "k", "", 0).Err() },
		"foreign": func(st *fixture) error {
			return st.process.Pass(context.Background(), func(context.Context) error { return nil })
		},
		"store": func(st *fixture) error {
			_, err := st.client.Store(empty{}).Read(context.Background(), "k")
			return err
		},
		"acquire": func(st *fixture) error {
			_, err := st.client.Locker(nil).Acquire(context.Background(), "k", lockbench.Options{})
			return err
		},
		"release": func(st *fixture) error { return (&heldLease{client: st.client}).Release(context.Background()) },
		"extend": func(st *fixture) error {
			return (&heldLease{client: st.client}).Extend(context.Background(), time.Second)
		},
		"second crash": func(st *fixture) error {
			r := &request{ctx: context.Background(), next: func(context.Context, []redis.Cmder) error { return nil }}
			return st.process.crashAt(r, st.client, st.in.plans[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := newFixture(t, fault.Fault{Kind: fault.Crash, At: time.Hour})
			early, returned := make(chan bool, 1), make(chan error, 1)
			err := st.process.whileRunning(func() error {
				go st.process.crash()
				for !st.process.Crashed() {
					runtime.Gosched()
				}
				go func() {
					err := call(st)
					select {
					case <-st.process.death:
						early <- false
					default:
						early <- true
					}
					returned <- err
				}()
				for range 10_000 {
					runtime.Gosched()
				}
				return nil
			})
			if !errors.Is(err, errCrashed) {
				t.Errorf("command under way: %v, want %v", err, errCrashed)
			}
			if <-early {
				t.Error("it ended before the death was on record")
			}
			if err := <-returned; !errors.Is(err, errCrashed) {
				t.Errorf("got %v, want %v", err, errCrashed)
			}
			st.end(t)
		})
	}
}

type empty struct{ lockbench.Store }

package stepserver_test

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// A bench is a server in a bubble with a client for each process.
type bench struct {
	t      *testing.T
	server *stepserver.Server
	opened []*redis.Client
}

// inBubble runs body in a bubble and sees to it that everything ends.
func inBubble(t *testing.T, body func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, err := stepserver.New()
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{t: t, server: s}
		defer b.close()
		body(t, b)
	})
}

func (b *bench) close() {
	b.server.Retire()
	for _, c := range b.opened {
		c.Close()
	}
	b.server.Close()
	time.Sleep(time.Second) // go-redis dials again in the background
}

// client makes a real client of a process, which waits for replies for ever.
func (b *bench) client(process int) *redis.Client { return b.patient(process, -1) }

// patient makes one that waits so long.
func (b *bench) patient(process int, wait time.Duration) *redis.Client {
	c := redis.NewClient(&redis.Options{
		Addr:            "127.0.0.1:6379",
		Protocol:        2,
		MaxRetries:      -1,
		DisableIdentity: true,
		DialerRetries:   1,
		PoolSize:        20,
		ReadTimeout:     wait,
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			return b.server.Dial(process)
		},
	})
	b.opened = append(b.opened, c)
	return c
}

// start runs f as a client and returns the future result.
func start[T any](f func() (T, error)) *result[T] {
	r := &result[T]{}
	go func() {
		r.Value, r.Err = f()
		r.Done = true
	}()
	synctest.Wait()
	return r
}

type result[T any] struct {
	Value T
	Err   error
	Done  bool
}

// args are the arguments of the pending commands.
func (b *bench) args() (all [][]string) {
	synctest.Wait()
	for _, c := range b.server.Pending() {
		all = append(all, c.Args)
	}
	return all
}

// step runs the pending command of a process and waits until all is quiet.
func (b *bench) step(process int) stepserver.Effect {
	b.t.Helper()
	return b.with(process, b.server.Run)
}

func (b *bench) with(process int, inject func(*stepserver.Command) stepserver.Effect) stepserver.Effect {
	b.t.Helper()
	synctest.Wait()
	for _, c := range b.server.Pending() {
		if c.Process == process {
			e := inject(c)
			synctest.Wait()
			return e
		}
	}
	b.t.Fatalf("process %d has nothing pending", process)
	return stepserver.Effect{}
}

// drain runs pending commands in order, until there are none.
func (b *bench) drain() {
	for synctest.Wait(); len(b.server.Pending()) > 0; synctest.Wait() {
		b.server.Run(b.server.Pending()[0])
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("%s (-got +want):\n%s", what, diff)
	}
}

func TestCommandsWaitAtTheGate(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		one, two := b.client(1), b.client(2)
		a := start(func() (bool, error) { return one.SetNX(ctx, "lock", "a", 2*time.Second).Result() })
		c := start(func() (bool, error) { return two.SetNX(ctx, "lock", "b", 2*time.Second).Result() })
		equal(t, "pending", b.args(), [][]string{
			{"set", "lock", "a", "ex", "2", "nx"}, {"set", "lock", "b", "ex", "2", "nx"}})
		equal(t, "effect of the second", b.step(2), stepserver.Effect{Process: 2, Writes: []string{"lock"}, Reply: "+OK\r\n"})
		equal(t, "first answered", a.Done, false)
		equal(t, "effect of the first", b.step(1), stepserver.Effect{Process: 1, Reads: []string{"lock"}, Reply: "$-1\r\n"})
		equal(t, "first", *a, result[bool]{false, nil, true})
		equal(t, "second", *c, result[bool]{true, nil, true})
	})
}

func TestLeasesEndByTheBubblesClock(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one := t.Context(), b.client(1)
		begun := time.Now()
		start(func() (bool, error) { return one.SetNX(ctx, "lock", "a", 1500*time.Millisecond).Result() })
		b.step(1)
		equal(t, "leases", b.server.Ends(nil), []time.Time{begun.UTC().Add(1500 * time.Millisecond)})
		for _, at := range []struct {
			sleep time.Duration
			want  time.Duration
		}{{time.Second, 500 * time.Millisecond}, {499 * time.Millisecond, time.Millisecond}, {time.Millisecond, -2}} {
			time.Sleep(at.sleep)
			r := start(func() (time.Duration, error) { return one.PTTL(ctx, "lock").Result() })
			b.step(1)
			equal(t, "remaining", r.Value, at.want)
		}
		equal(t, "leases", b.server.Ends(nil), []time.Time(nil))
	})
}

// TestKeysLiveThroughTheMillisecondNamed: Redis expires a key when its clock shows more than the
// named time.
func TestKeysLiveThroughTheMillisecondNamed(t *testing.T) {
	for name, args := range map[string]func(end int64) [][]any{
		"SET":       func(end int64) [][]any { return [][]any{{"set", "lock", "pxat", "pxat", end}} },
		"GETEX":     func(end int64) [][]any { return [][]any{{"set", "lock", "a"}, {"getex", "lock", "PXAT", end}} },
		"PEXPIREAT": func(end int64) [][]any { return [][]any{{"set", "lock", "a"}, {"pexpireat", "lock", end}} },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				ctx, one := t.Context(), b.client(1)
				end := time.Now().Truncate(time.Millisecond).Add(time.Second)
				for _, command := range args(end.UnixMilli()) {
					start(func() (any, error) { return one.Do(ctx, command...).Result() })
					b.step(1)
				}
				for _, at := range []struct {
					after time.Duration
					want  int64
				}{{time.Millisecond - 1, 1}, {time.Millisecond, 0}} {
					time.Sleep(time.Until(end.Add(at.after)))
					r := start(func() (int64, error) { return one.Exists(ctx, "lock").Result() })
					b.step(1)
					equal(t, "exists "+at.after.String()+" after it", r.Value, at.want)
				}
			})
		})
	}
}

const compareAndDeleteSource = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`

var compareAndDelete = redis.NewScript(compareAndDeleteSource)

func TestScripts(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one := t.Context(), b.client(1)
		release := func(token string) *result[any] {
			return start(func() (any, error) { return compareAndDelete.Run(ctx, one, []string{"lock"}, token).Result() })
		}
		start(func() (string, error) { return one.Set(ctx, "lock", "a", 0).Result() })
		b.step(1)
		r := release("b")
		equal(t, "reply before it is known", b.step(1).Reply[:9], "-NOSCRIPT")
		equal(t, "then it is sent", b.args()[0][0], "eval")
		b.step(1)
		equal(t, "wrong token", *r, result[any]{int64(0), nil, true})
		r = release("a")
		equal(t, "known now", b.args()[0][0], "evalsha")
		b.step(1)
		equal(t, "right token", *r, result[any]{int64(1), nil, true})
		b.server.ScriptFlush()
		r = release("a")
		equal(t, "reply after a flush", b.step(1).Reply[:9], "-NOSCRIPT")
		b.step(1)
		equal(t, "gone", *r, result[any]{int64(0), nil, true})
	})
}

func TestTransactions(t *testing.T) {
	for _, c := range []struct {
		name    string
		between func(b *bench, other *redis.Client)
		want    error
	}{
		{"undisturbed", func(*bench, *redis.Client) {}, nil},
		{"written", func(b *bench, other *redis.Client) {
			start(func() (string, error) { return other.Set(b.t.Context(), "stock", "5", 0).Result() })
			b.step(2)
		}, redis.TxFailedErr},
		{"read", func(b *bench, other *redis.Client) {
			start(func() (string, error) { return other.Get(b.t.Context(), "stock").Result() })
			b.step(2)
		}, nil},
		{"expired", func(b *bench, _ *redis.Client) { time.Sleep(time.Minute) }, redis.TxFailedErr},
		{"deleted and set again", func(b *bench, other *redis.Client) {
			for _, do := range [][]any{{"del", "stock"}, {"set", "stock", "7", "ex", "60"}} {
				start(func() (any, error) { return other.Do(b.t.Context(), do...).Result() })
				b.step(2)
			}
		}, redis.TxFailedErr},
	} {
		t.Run(c.name, func(t *testing.T) { inBubble(t, func(t *testing.T, b *bench) { transaction(b, c.between, c.want) }) })
	}
}

func transaction(b *bench, between func(*bench, *redis.Client), want error) {
	ctx, one, two := b.t.Context(), b.client(1), b.client(2)
	start(func() (string, error) { return two.Set(ctx, "stock", "7", time.Minute).Result() })
	b.step(2)
	r := start(func() (int, error) {
		return 0, one.Watch(ctx, func(tx *redis.Tx) error {
			n, err := tx.Get(ctx, "stock").Int()
			if err != nil {
				return err
			}
			_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "stock", n-1, 0)
				p.Incr(ctx, "sold")
				return nil
			})
			return err
		}, "stock")
	})
	for _, name := range []string{"watch", "get"} {
		equal(b.t, "step", b.args()[0][0], name)
		b.step(1)
	}
	between(b, two)
	equal(b.t, "pending", b.args(), [][]string{{"exec"}})
	equal(b.t, "queued", b.server.Pending()[0].Queued, [][]string{{"set", "stock", "6"}, {"incr", "sold"}})
	b.step(1)
	b.drain()
	if !r.Done || !errors.Is(r.Err, want) {
		b.t.Errorf("transaction: done %v, %v, want %v", r.Done, r.Err, want)
	}
	sold := start(func() (int64, error) { return two.Exists(ctx, "sold").Result() })
	b.step(2)
	equal(b.t, "took effect", sold.Value == 1, want == nil)
}

func TestPublishAndSubscribe(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one, two := t.Context(), b.client(1), b.client(2)
		listener := one.Subscribe(ctx)
		heard := start(func() (string, error) {
			if err := listener.Subscribe(ctx, "freed"); err != nil {
				return "", err
			}
			m := <-listener.Channel()
			return m.Payload, nil
		})
		send := func(text string, want int64) stepserver.Effect {
			r := start(func() (int64, error) { return two.Publish(ctx, "freed", text).Result() })
			e := b.step(2)
			equal(t, "receivers of "+text, r.Value, want)
			return e
		}
		equal(t, "effect when nobody listens", len(send("missed", 0).Writes), 0)
		b.step(1)
		equal(t, "woken", send("heard", 1).Woken, []int{1})
		equal(t, "heard", *heard, result[string]{"heard", nil, true})
		listener.Close()
		synctest.Wait()
		send("gone", 0)
	})
}

func TestBlockingCommands(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one, two, three := t.Context(), b.client(1), b.client(2), b.client(3)
		pop := func(c *redis.Client, wait time.Duration) *result[[]string] {
			return start(func() ([]string, error) { return c.BLPop(ctx, wait, "queue").Result() })
		}
		first, second := pop(two, 0), pop(one, 2*time.Second)
		equal(t, "waits", b.step(2).Waits, true)
		b.step(1)
		equal(t, "pending", b.args(), [][]string(nil))
		push := func() stepserver.Effect {
			start(func() (int64, error) { return three.RPush(ctx, "queue", "x").Result() })
			return b.step(3)
		}
		equal(t, "woken", push().Woken, []int{2})
		equal(t, "first come, first served", *first, result[[]string]{[]string{"queue", "x"}, nil, true})
		equal(t, "second", second.Done, false)
		b.args() // for the race detector: its end comes after this look at it
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !second.Done || !errors.Is(second.Err, redis.Nil) {
			t.Errorf("second after its wait: %+v", second)
		}
		equal(t, "woken with nobody waiting", push().Woken, []int(nil))
		third := pop(one, time.Second)
		b.step(1)
		equal(t, "third", *third, result[[]string]{[]string{"queue", "x"}, nil, true})
	})
}

func TestFaultsOfAConnection(t *testing.T) {
	for _, c := range []struct {
		name   string
		inject func(s *stepserver.Server, c *stepserver.Command)
		isSet  bool // afterwards
		still  int  // commands that are pending
		is     error
	}{
		{"reply lost", func(s *stepserver.Server, c *stepserver.Command) { s.RunLosing(c) }, true, 0, nil},
		{"cut", func(s *stepserver.Server, c *stepserver.Command) { s.Cut(c) }, false, 0, nil},
		{"timed out", func(s *stepserver.Server, c *stepserver.Command) { s.Timeout(c) }, false, 1, os.ErrDeadlineExceeded},
		{"restart", func(s *stepserver.Server, c *stepserver.Command) { s.Restart() }, false, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				ctx, one, two := t.Context(), b.client(1), b.client(2)
				r := start(func() (string, error) { return one.Set(ctx, "lock", "a", 0).Result() })
				c.inject(b.server, b.server.Pending()[0])
				synctest.Wait()
				if !r.Done || r.Err == nil || c.is != nil && !errors.Is(r.Err, c.is) {
					t.Errorf("client got %+v, want an error, %v", r, c.is)
				}
				equal(t, "pending", len(b.server.Pending()), c.still)
				set := start(func() (int64, error) { return two.Exists(ctx, "lock").Result() })
				b.step(2)
				equal(t, "set", set.Value == 1, c.isSet)
				again := start(func() (string, error) { return one.Set(ctx, "lock", "a", 0).Result() })
				for _, p := range b.server.Pending() {
					b.server.Run(p)
				}
				synctest.Wait()
				equal(t, "next command", *again, result[string]{"OK", nil, true})
			})
		})
	}
}

// TestLateCommand lets a command that its client gave up run later.
func TestLateCommand(t *testing.T) {
	for _, c := range []struct {
		name   string
		giveUp func(b *bench)
	}{
		{"told to", func(b *bench) { b.server.Timeout(b.server.Pending()[0]) }},
		{"by its own deadline", func(b *bench) { time.Sleep(3 * time.Second) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				ctx, one := t.Context(), b.patient(1, 3*time.Second)
				begun := time.Now()
				r := start(func() (string, error) { return one.Set(ctx, "lock", "a", 0).Result() })
				c.giveUp(b)
				synctest.Wait()
				if !r.Done || !errors.Is(r.Err, os.ErrDeadlineExceeded) {
					t.Fatalf("client got %+v after %v", r, time.Since(begun))
				}
				equal(t, "orphan", b.server.Pending()[0].Orphan(), true)
				equal(t, "effect", b.step(1).Writes, []string{"lock"})
				equal(t, "pending", b.args(), [][]string(nil))
			})
		})
	}
}

func TestCrashedProcessesWaitForRetire(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one, two := t.Context(), b.client(1), b.client(2)
		r := start(func() (string, error) { return one.Set(ctx, "lock", "a", 0).Result() })
		b.server.Kill(1)
		other := start(func() (string, error) { return one.Get(ctx, "lock").Result() }) // dials
		time.Sleep(time.Hour)
		equal(t, "pending", b.args(), [][]string(nil))
		equal(t, "returned", []bool{r.Done, other.Done}, []bool{false, false})
		set := start(func() (int64, error) { return two.Exists(ctx, "lock").Result() })
		b.step(2)
		equal(t, "set", set.Value, int64(0))
		b.server.Retire()
		time.Sleep(time.Second)
		synctest.Wait()
		equal(t, "returned", []bool{r.Done, other.Done}, []bool{true, true})
		if r.Err == nil || other.Err == nil {
			t.Errorf("the crashed processes got %v and %v, want errors", r.Err, other.Err)
		}
	})
}

func TestResetKeepsConnections(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one := t.Context(), b.client(1)
		for range 3 {
			r := start(func() (bool, error) { return one.SetNX(ctx, "lock", "a", 0).Result() })
			equal(t, "connection", b.server.Pending()[0].Conn, 1)
			b.step(1)
			equal(t, "set", *r, result[bool]{true, nil, true})
			b.server.Reset()
		}
	})
}

// TestProtocol3 uses the differences of RESP3: nil, maps and pushed messages.
func TestProtocol3(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		options := *b.client(1).Options()
		options.Protocol = 3
		c := redis.NewClient(&options)
		b.opened = append(b.opened, c)
		do := func(args ...any) any {
			r := start(func() (any, error) { return c.Do(ctx, args...).Result() })
			b.drain()
			if r.Err != nil && !errors.Is(r.Err, redis.Nil) {
				t.Errorf("%v: %v", args, r.Err)
			}
			return r.Value
		}
		equal(t, "get", do("get", "k"), nil)
		equal(t, "hset", do("hset", "h", "f", "v"), any(int64(1)))
		equal(t, "hgetall", do("hgetall", "h"), any(map[any]any{"f": "v"}))
		equal(t, "nil of a script", do("eval", "return redis.call('get','k')", 0), nil)
		equal(t, "map of a script", do("eval", "redis.setresp(3) return redis.call('hgetall','h').map.f", 0), any("v"))
		equal(t, "and after it", do("eval", "return redis.call('hgetall','h')", 0), any([]any{"f", "v"}))
		listener := c.Subscribe(ctx, "freed")
		heard := start(func() (string, error) {
			m, err := listener.ReceiveMessage(ctx)
			if err != nil {
				return "", err
			}
			return m.Payload, nil
		})
		b.drain()
		equal(t, "receivers", do("publish", "freed", "x"), any(int64(1)))
		equal(t, "heard", *heard, result[string]{"x", nil, true})
		listener.Close()
	})
}

// TestWaitForAStream waits for entries after the command ran.
func TestWaitForAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTable(t, 2)
		defer w.server.Close()
		add := func(id string) stepserver.Effect { return w.turn(1, [][]string{{"xadd", "s", id, "f", "v"}}) }
		add("1-1")
		equal(t, "waits", w.turn(0, [][]string{{"xread", "block", "0", "streams", "s", "$"}}).Waits, true)
		equal(t, "as it was sent", w.server.Blocked()[0].Args[5], "$")
		equal(t, "woken", add("1-2").Woken, []int{0})
		equal(t, "got", w.heard()[0], "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-2\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n")
	})
}

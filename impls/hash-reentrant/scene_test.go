package hashreentrant_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	hashreentrant "github.com/lockbench/lockbench/impls/hash-reentrant"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

const key = "job"

var (
	minute   = lockbench.Options{TTL: time.Minute}
	twoSecs  = lockbench.Options{TTL: 2 * time.Second}
	patience = lockbench.Options{TTL: time.Minute, Wait: time.Hour}
)

// A scene is a server with processes of one design around it.
type scene struct {
	*testing.T
	design design.Design
	env    onredis.Environment
	admin  *redis.Client
}

func newScene(t *testing.T, name string, env onredis.Environment) *scene {
	t.Helper()
	for _, d := range hashreentrant.Designs() {
		if d.Name == "hash-reentrant/"+name {
			s := &scene{T: t, design: d, env: env, admin: designtest.Admin(t, env)}
			s.env.Prefix += t.Name() + ":"
			return s
		}
	}
	t.Fatalf("no design %s", name)
	return nil
}

// onServers plays a scene on every server, in real time.
func onServers(t *testing.T, variants []string, play func(s *scene)) {
	designtest.Each(t, func(t *testing.T, env onredis.Environment) {
		for _, name := range variants {
			t.Run(name, func(t *testing.T) { play(newScene(t, name, env)) })
		}
	})
}

// inBubble plays a scene on the embedded server in virtual time, in which
// commands take no time.
func inBubble(t *testing.T, variant string, play func(s *scene)) {
	synctest.Test(t, func(t *testing.T) {
		server := miniredis.NewMiniRedis()
		server.ClockTTL(true)
		t.Cleanup(server.Close)
		play(newScene(t, variant, onredis.Environment{
			Redis: &redis.Options{
				Addr: "127.0.0.1:0", Protocol: 2, DisableIdentity: true, DialerRetries: 1,
				Dialer: func(context.Context, string, string) (net.Conn, error) { return server.Dial() },
			},
			Environment: design.Environment{Prefix: "bubble:", Now: time.Now, Random: rand.Reader},
		}))
	})
}

// process opens one more process, with scripts that the server knows.
func (s *scene) process() (design.Process, *designtest.Gate) {
	s.Helper()
	env, gate := designtest.Through(s.env)
	p, err := s.design.Open(env.General())
	if err != nil {
		s.Fatalf("open: %v", err)
	}
	s.Cleanup(func() { p.Close() })
	l := p.Locker(design.Blind)
	for range 2 { // so that EVALSHA is not tried in vain later
		first, err := l.Acquire(s.Context(), "warm-up", minute)
		s.want(err, nil)
		second, err := l.Acquire(s.Context(), "warm-up", minute)
		s.want(err, nil)
		s.want(second.Release(s.Context()), nil)
		s.want(first.Release(s.Context()), nil)
	}
	return p, gate
}

// locker is the only thread of one more process.
func (s *scene) locker() (lockbench.Locker, *designtest.Gate) {
	p, gate := s.process()
	return p.Locker(design.Blind), gate
}

func (s *scene) acquire(l lockbench.Locker, opt lockbench.Options) lockbench.Lease {
	s.Helper()
	held, err := l.Acquire(s.Context(), key, opt)
	if err != nil {
		s.Fatalf("acquire: %v", err)
	}
	return held
}

func (s *scene) refused(l lockbench.Locker) {
	s.Helper()
	_, err := l.Acquire(s.Context(), key, minute)
	s.want(err, lockbench.ErrNotAcquired)
}

func (s *scene) release(held lockbench.Lease) {
	s.Helper()
	s.want(held.Release(s.Context()), nil)
}

func (s *scene) want(got, want error) {
	s.Helper()
	if !errors.Is(got, want) {
		s.Errorf("got error %v, want %v", got, want)
	}
}

// open wants an error that leaves the outcome open.
func (s *scene) open(err error) {
	s.Helper()
	if err == nil || errors.Is(err, lockbench.ErrNoEffect) || errors.Is(err, lockbench.ErrNotAcquired) {
		s.Errorf("got error %v, want one that leaves the outcome open", err)
	}
}

func (s *scene) lost(held lockbench.Lease, want bool) {
	s.Helper()
	got := false
	select {
	case <-held.(lockbench.Watcher).Lost():
		got = true
	default:
	}
	if got != want {
		s.Errorf("lost: %v, want %v", got, want)
	}
}

// server is the lock's key on the server.
func (s *scene) server() string { return s.env.Prefix + "hash-reentrant:" + key }

func (s *scene) left() time.Duration { return s.admin.PTTL(s.Context(), s.server()).Val() }

// expire takes the key away, as its expiry would.
func (s *scene) expire() {
	s.Helper()
	s.want(s.admin.Del(s.Context(), s.server()).Err(), nil)
}

type result struct {
	lease lockbench.Lease
	err   error
}

func (s *scene) acquireInBackground(ctx context.Context, l lockbench.Locker, opt lockbench.Options) <-chan result {
	got := make(chan result, 1)
	go func() {
		held, err := l.Acquire(ctx, key, opt)
		got <- result{held, err}
	}()
	return got
}

// renewals keeps the reports of an owner's watchdog.
type renewals struct {
	designtest.Attempts
	mu      sync.Mutex
	results []error
}

func (r *renewals) Renewing(string) func(time.Duration, error) {
	return func(_ time.Duration, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.results = append(r.results, err)
	}
}

// count returns the number of renewals that ended in want, nil for success.
func (r *renewals) count(want error) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, err := range r.results {
		if errors.Is(err, want) {
			n++
		}
	}
	return n
}

// An outage makes connections fail while it lasts.
type outage struct{ down atomic.Bool }

// The client logs each connection that it cannot open.
func init() { redis.SetLogger(&logging.VoidLogger{}) }

var errDown = errors.New("down")

// through returns env with connections that the outage affects.
func (o *outage) through(env onredis.Environment) onredis.Environment {
	opt := *env.Redis
	dial := opt.Dialer
	opt.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if o.down.Load() {
			return nil, &net.OpError{Op: "dial", Net: network, Err: errDown}
		}
		inner, err := dial(ctx, network, addr)
		return failingConn{inner, o}, err
	}
	env.Redis = &opt
	return env
}

type failingConn struct {
	net.Conn
	outage *outage
}

func (c failingConn) Write(b []byte) (int, error) {
	if c.outage.down.Load() {
		return 0, errDown
	}
	return c.Conn.Write(b)
}

// A keptBack is the first SUBSCRIBE of a process, not sent until proceed is
// closed. A connection that listens is read and written at once, which a
// designtest.Gate does not allow.
type keptBack struct {
	once             sync.Once
	reached, proceed chan struct{}
}

func keepBackSubscribe(env onredis.Environment) (onredis.Environment, *keptBack) {
	k := &keptBack{reached: make(chan struct{}), proceed: make(chan struct{})}
	opt := *env.Redis
	dial := opt.Dialer
	if dial == nil {
		dial = redis.NewDialer(&opt)
	}
	opt.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		inner, err := dial(ctx, network, addr)
		return keptBackConn{inner, k}, err
	}
	env.Redis = &opt
	return env, k
}

type keptBackConn struct {
	net.Conn
	kept *keptBack
}

func (c keptBackConn) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("\r\nsubscribe\r\n")) {
		c.kept.once.Do(func() {
			close(c.kept.reached)
			<-c.kept.proceed
		})
	}
	return c.Conn.Write(b)
}

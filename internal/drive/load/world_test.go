package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/workloads"
)

// A world is everything around the lock of a run in virtual time: a server with incidents that
// lockbench did not cause, connections that take time and break, and the disk that the history is
// written to. It does what its plan says.
//
// A delay depends on the seed, the instant and the place alone, so that goroutines that draw at the
// same time do not change each other's delays.
type world struct {
	plan
	server *servers.Server
	admin  *redis.Client // whoever else uses the server
	begun  time.Time

	lockers atomic.Uint64 // made so far
	kills   atomic.Int64  // how often all connections were closed
	down    atomic.Bool
	runs    atomic.Int64 // how often the server was started anew
	evicted atomic.Int64

	mu     sync.Mutex
	conns  map[*worldConn]struct{}
	stalls time.Time // until when the server answers nothing
}

// delay returns how long something takes at a point, a few microseconds unless the plan makes it
// slow now and then. by tells apart those that may be there at the same instant.
func (w *world) delay(at point, by uint64) time.Duration {
	h := fnv.New64a()
	fmt.Fprint(h, at, by, time.Since(w.begun).Nanoseconds())
	random := rand.New(rand.NewPCG(w.seed, h.Sum64()))
	d := 20*time.Microsecond + time.Duration(random.Int64N(int64(100*time.Microsecond)))
	if s := w.slow[at]; random.Float64() < s.p {
		d += time.Duration(random.Int64N(int64(s.most)))
	}
	return d
}

func (w *world) pause(at point, by uint64) { time.Sleep(w.delay(at, by)) }

// answer returns once the server answers again.
func (w *world) answer() {
	w.mu.Lock()
	until := w.stalls
	w.mu.Unlock()
	time.Sleep(time.Until(until))
}

var (
	errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	// errStale is the error of a connection that was closed by the server before it was used again.
	// The client library finds out by a look at its socket, and takes another one.
	errStale = errors.New("stale connection")
)

// A worldConn is a connection to the server that others may break. It has a buffer as a socket has:
// miniredis holds a lock while it writes, on which nobody can wait in virtual time.
type worldConn struct {
	net.Conn
	w        *world
	killed   atomic.Bool
	received chan []byte // closed when the connection ends
	rest     []byte      // of what was received
	deadline atomic.Pointer[time.Time]
	closing  sync.Once
	closed   chan struct{}
}

func (w *world) newConn(conn net.Conn) *worldConn {
	c := &worldConn{Conn: conn, w: w, received: make(chan []byte, 1024), closed: make(chan struct{})}
	go c.receive()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[c] = struct{}{}
	return c
}

// receive reads until the connection ends.
func (c *worldConn) receive() {
	defer close(c.received)
	for {
		b := make([]byte, 1024)
		n, err := c.Conn.Read(b)
		if err != nil {
			return
		}
		select {
		case c.received <- b[:n]:
		case <-c.closed:
			return
		}
	}
}

// Read implements net.Conn.
func (c *worldConn) Read(b []byte) (int, error) {
	var late <-chan time.Time
	if at := c.deadline.Load(); at != nil && !at.IsZero() {
		timer := time.NewTimer(time.Until(*at))
		defer timer.Stop()
		late = timer.C
	}
	if len(c.rest) == 0 {
		select {
		case c.rest = <-c.received:
		case <-late:
			return 0, os.ErrDeadlineExceeded
		}
	}
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// SetReadDeadline implements net.Conn.
func (c *worldConn) SetReadDeadline(at time.Time) error {
	c.deadline.Store(&at)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *worldConn) SetWriteDeadline(at time.Time) error {
	if c.killed.Load() {
		return errStale
	}
	return c.Conn.SetWriteDeadline(at)
}

// SetDeadline implements net.Conn.
func (c *worldConn) SetDeadline(at time.Time) error {
	return errors.Join(c.SetReadDeadline(at), c.SetWriteDeadline(at))
}

// Write implements net.Conn.
func (c *worldConn) Write(b []byte) (int, error) {
	if c.killed.Load() {
		return 0, errStale
	}
	return c.Conn.Write(b)
}

// Close implements net.Conn.
func (c *worldConn) Close() error {
	c.w.mu.Lock()
	delete(c.w.conns, c)
	c.w.mu.Unlock()
	return c.end()
}

func (c *worldConn) end() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// kill breaks all connections.
func (w *world) kill() {
	w.kills.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.killed.Store(true)
		_ = c.end() // it is of no more use
	}
	clear(w.conns)
}

// around returns d in the world: its calls and commands take time, and its connections break.
func (w *world) around(d design.Design) design.Design {
	open := d.Open
	d.Open = func(env design.Environment) (design.Process, error) {
		for i, s := range env.Services {
			server := s.(onredis.Server)
			opt := *server.Options
			opt.Dialer = w.dialer(opt.Dialer)
			env.Services[i] = onredis.Server{Options: &opt, Clients: worldClients{w, uint64(env.PID), server.Clients}}
		}
		p, err := open(env)
		return &worldProcess{p, w}, err
	}
	return d
}

func (w *world) dialer(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if w.down.Load() {
			return nil, errRefused
		}
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return w.newConn(conn), nil
	}
}

// worldProcess is a process with calls that take time.
type worldProcess struct {
	design.Process
	w *world
}

// Locker implements design.Process.
func (p *worldProcess) Locker(o design.Observer) lockbench.Locker {
	owner := p.w.lockers.Add(1)
	return design.Around(p.Process.Locker(o), func(ctx context.Context) (context.Context, func()) {
		p.w.pause(atCall, owner)
		return ctx, func() { p.w.pause(atReturn, owner) }
	})
}

// worldClients makes the connections of a process. Their commands take time.
type worldClients struct {
	w      *world
	number uint64
	inner  onredis.Clients // the injector's; nil in a run without faults
}

// Open implements onredis.Clients.
func (c worldClients) Open(opt *redis.Options) *redis.Client {
	var client *redis.Client
	if c.inner != nil {
		client = c.inner.Open(opt)
	} else {
		client = redis.NewClient(opt)
	}
	client.AddHook(worldHook{c.w, c.number}) // within the hook of the injector
	return client
}

// Close implements onredis.Clients.
func (c worldClients) Close(client *redis.Client) error { return client.Close() }

type worldHook struct {
	w       *world
	process uint64
}

// DialHook implements redis.Hook.
func (h worldHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (h worldHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return h.command([]redis.Cmder{cmd}, func() error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook implements redis.Hook.
func (h worldHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return h.command(cmds, func() error { return next(ctx, cmds) })
	}
}

// command sends a command, which breaks if the connections do: before it runs or after.
func (h worldHook) command(cmds []redis.Cmder, send func() error) error {
	w, fail := h.w, func(err error) error {
		for _, cmd := range cmds {
			cmd.SetErr(err)
		}
		return err
	}
	if name := cmds[0].Name(); name == "hello" || name == "client" { // the library opens a connection, under its lock
		return send()
	}
	if w.down.Load() {
		return fail(errRefused)
	}
	kills := w.kills.Load()
	w.pause(atSend, h.process)
	w.answer()
	if w.kills.Load() != kills {
		return fail(io.EOF)
	}
	err := send()
	for errors.Is(err, errStale) {
		err = send()
	}
	w.pause(atReply, h.process)
	if w.kills.Load() != kills {
		return fail(io.EOF)
	}
	return err
}

// A usersServer is the world's server as one that the user named, beside the clients.
type usersServer struct {
	*servers.Server
	w *world
}

// Kind implements design.Service.
func (usersServer) Kind() string { return design.External }

// Parts implements design.Divided.
func (s usersServer) Parts() []design.Service { return []design.Service{s} }

// Local implements design.Neighbour.
func (usersServer) Local() bool { return true }

// Ping implements design.Service.
func (s usersServer) Ping(ctx context.Context) error {
	if s.w.down.Load() {
		return errRefused
	}
	s.w.answer()
	return s.Server.Ping(ctx)
}

// Ask implements design.Prompt.
func (s usersServer) Ask() (ask func(context.Context) error, close func() error) {
	return func(context.Context) error {
		if s.w.down.Load() {
			return errRefused
		}
		s.w.pause(atAsk, 0)
		s.w.answer()
		return nil
	}, func() error { return nil }
}

// Watch implements design.Watched.
func (s usersServer) Watch(prefix string) (look func(context.Context) (design.Glance, error), close func() error) {
	w := s.w
	inner, closing := s.Server.Watch(prefix)
	return func(ctx context.Context) (design.Glance, error) {
		if w.down.Load() {
			return design.Glance{}, errRefused
		}
		kills := w.kills.Load()
		if !w.sleep(ctx, w.delay(atLook, 0)) {
			return design.Glance{}, ctx.Err()
		}
		w.answer()
		if w.kills.Load() != kills {
			return design.Glance{}, io.EOF
		}
		g, err := inner(ctx)
		run := fmt.Sprint(w.runs.Load()) // INFO of miniredis has none of it
		g.Run, g.Role, g.Data, g.Evicted, g.Hidden = run, "master", run, w.evicted.Load(), ""
		w.pause(atRecord, 0)
		return g, err
	}, closing
}

// befall lets the incidents of the plan happen, until ctx ends.
func (w *world) befall(ctx context.Context) error {
	for _, i := range w.incidents {
		if !w.sleep(ctx, time.Until(w.begun.Add(i.at))) {
			return nil
		}
		if err := w.incident(ctx, i); err != nil {
			return fmt.Errorf("incident %v: %w", i, err)
		}
	}
	return nil
}

func (w *world) sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (w *world) incident(ctx context.Context, i incident) error {
	switch i.kind {
	case restarts:
		w.down.Store(true)
		w.kill()
		err := errors.Join(w.forget(ctx), w.admin.ScriptFlush(context.WithoutCancel(ctx)).Err())
		w.sleep(ctx, i.lasts)
		w.runs.Add(1)
		w.down.Store(false)
		return err
	case flushes:
		return w.forget(ctx)
	case evicts:
		return w.remove(ctx, i.lasts, func() { w.evicted.Add(1) })
	case deletes: // at once: keys that go before the watcher's own are not seen to go
		return w.remove(ctx, 0, func() {})
	case kills:
		w.kill()
	case stalls:
		w.mu.Lock()
		w.stalls = time.Now().Add(i.lasts)
		w.mu.Unlock()
	}
	return nil
}

func (w *world) forget(ctx context.Context) error {
	return w.admin.FlushAll(context.WithoutCancel(ctx)).Err()
}

// remove removes keys one by one, in an order that the seed decides: for a time, or all at once.
func (w *world) remove(ctx context.Context, lasts time.Duration, each func()) error {
	for end := time.Now().Add(lasts); ; {
		keys, err := w.admin.Keys(context.WithoutCancel(ctx), "*").Result()
		if err != nil {
			return err
		}
		if len(keys) == 0 && lasts == 0 {
			return nil
		}
		if len(keys) > 0 {
			each()
			if err := w.admin.Del(context.WithoutCancel(ctx), keys[int(w.delay(atRemoval, 0))%len(keys)]).Err(); err != nil {
				return err
			}
		}
		if lasts > 0 && (time.Now().After(end) || !w.sleep(ctx, w.delay(atRemoval, 1))) {
			return nil
		}
	}
}

// A disk takes the history: slowly, and not beyond the write that the plan makes fail.
type disk struct {
	w      *world
	writes int
	bytes.Buffer
}

// Write implements io.Writer.
func (d *disk) Write(p []byte) (int, error) {
	d.w.pause(atWrite, 0)
	d.writes++
	if d.w.full == 0 || d.writes < d.w.full {
		return d.Buffer.Write(p)
	}
	n, _ := d.Buffer.Write(p[:len(p)/2])
	return n, errDisk
}

// run makes the world's run in a bubble. Its error says what may not happen, whatever the lock.
func (p plan) run(t *testing.T) (o outcome) {
	w := &world{plan: p, server: embedded(t), begun: time.Now(), conns: map[*worldConn]struct{}{}}
	w.admin = redis.NewClient(w.server.Options())
	defer w.admin.Close()
	file := &disk{w: w}
	c := Config{
		Design: w.around(p.design), Services: backend.Group{w.server}, Records: embedded(t),
		Workload: workloads.Must(p.workload), Options: p.options, Faults: p.faults, History: file,
	}
	if p.users {
		c.Services = backend.Group{usersServer{w.server, w}}
	}
	ctx, stop := context.WithCancel(t.Context())
	befallen := make(chan error, 1)
	go func() { befallen <- w.befall(ctx) }()
	summary, err := Run(t.Context(), c)
	stop()
	o = outcome{plan: p, summary: summary, err: err, history: file.Bytes(), writes: file.writes}
	o.broke("incidents", <-befallen)
	o.keys = keysLeft(t, w.server)
	o.judge()
	return o
}

func (p plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, users %t, faults %v, incidents %v, slow %v, full %d, %+v", p.design.Name, p.workload, p.users, p.faults, p.incidents, p.slow, p.full, p.options)
	return b.String()
}

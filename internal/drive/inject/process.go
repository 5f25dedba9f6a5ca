package inject

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/relay"
)

// errCrashed is the error of the locks of a crashed process. Nobody acts on it. Calls get it from
// [Process.died].
var errCrashed = errors.New("the process has crashed")

// A Process is one process of a design that is subject to faults. All commands of its locks pass
// through it. Its methods are safe for concurrent use.
type Process struct {
	in     *Injector
	number int
	skew   time.Duration // how far its clock is ahead
	skewed *plan         // the skew's plan; nil when the clock is right

	// watched is set if its commands are visible, so that faults can affect single ones.
	watched atomic.Bool

	// program is the process if it is a program of its own, nil otherwise. It is set before clients use
	// the process.
	program design.Program

	crashed atomic.Bool   // set with mu held
	death   chan struct{} // closed when it has crashed
	// underWay counts the commands under way. It is no RWMutex, which would keep a test in virtual
	// time from waiting for a slow command.
	underWay sync.WaitGroup

	mu      sync.Mutex
	clients []*Client
	conns   map[net.Conn]struct{}
	relays  map[string]*relay.Relay // by the address of a server; nil without faults of the network
	resume  chan struct{}           // closed when a pause is over, nil while there is none
	// background draws for requests that no client made.
	background *actor
	record     *history.Client
}

// Process makes the process with this number, unique in the run, subject to faults. It changes env.
// Without faults to inject it records connections that others break, as cuts for all of its clients.
// Call it before the design's Open, and open the design with env.
func (in *Injector) Process(number int, env *design.Environment) *Process {
	p := &Process{
		in: in, number: number,
		death:      make(chan struct{}),
		conns:      map[net.Conn]struct{}{},
		relays:     map[string]*relay.Relay{},
		background: newActor(in, int64(-1-number)),
	}
	injects := len(in.plans) > 0 // else it only watches the connections, which costs the commands no time
	if injects {
		env.Interceptor = p
	}
	for i, s := range env.Services {
		if server, ok := s.(onredis.Server); ok {
			server.Options = p.reach(server.Options)
			if injects {
				server.Clients = clients{p}
			}
			env.Services[i] = server
		} else if dialed, ok := s.(design.Dialed); ok {
			env.Services[i] = dialed.Dialing(func(direct dial) dial {
				return p.dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
					return p.dialTo(addr, direct)(ctx, network, addr)
				})
			})
		}
	}
	in.mu.Lock()
	in.processes = append(in.processes, p)
	in.mu.Unlock()
	for _, plan := range in.plans {
		if plan.how.begin != nil {
			plan.how.begin(p, plan, env)
		}
	}
	return p
}

// Runs tells the injector the process that the design opened, before clients use it. Faults stop and kill a
// program of its own.
func (p *Process) Runs(opened design.Process) { p.program, _ = opened.(design.Program) }

// setOff sets the clock of every other process ahead, and of the others back.
func (p *Process) setOff(plan *plan, env *design.Environment) {
	p.skewed, p.skew = plan, plan.By
	if p.number%2 == 1 {
		p.skew = -plan.By
	}
	now := env.Now
	env.Now = func() time.Time { return now().Add(p.skew) }
}

// clients makes the design's connections.
type clients struct{ p *Process }

// Open implements [onredis.Clients].
func (c clients) Open(opt *redis.Options) *redis.Client {
	client := redis.NewClient(opt)
	client.AddHook(hook(c))
	return client
}

// Close implements [onredis.Clients].
func (c clients) Close(client *redis.Client) error { return client.Close() }

// Pass implements [design.Interceptor].
func (p *Process) Pass(ctx context.Context, send func(context.Context) error) error {
	return p.foreign(&request{ctx: ctx, next: func(ctx context.Context, _ []redis.Cmder) error { return send(ctx) }})
}

// reach returns opt changed for the process: connections end with the process, and go
// through a relay if a fault may affect the network.
func (p *Process) reach(opt *redis.Options) *redis.Options {
	mine := *opt
	mine.Dialer = p.dialer(p.dialTo(opt.Addr, opt.Dialer))
	return &mine
}

// Crashed reports whether the process has died.
func (p *Process) Crashed() bool { return p.crashed.Load() }

// Died returns a channel that is closed when the process has crashed and the deaths of its clients are on
// record.
func (p *Process) Died() <-chan struct{} { return p.death }

// crash ends the process and all of its clients. It returns once no command of it is
// under way any more; it does nothing if the process has crashed already.
func (p *Process) crash() bool {
	p.mu.Lock()
	again := p.crashed.Swap(true)
	p.mu.Unlock()
	if again {
		return false
	}
	p.end()
	p.in.forget(p)
	return true
}

// died returns errCrashed for a call of a process that has crashed, once its death is on record: an
// earlier end of the call would be an answer of the lock. Commands under way must not call it, because
// the death waits for them.
func (p *Process) died() error {
	<-p.death
	return errCrashed
}

// end ends the process's commands under way, its clients and its connections. A program is killed when
// its death is on record: it may do more until then, and nothing that counts after that.
func (p *Process) end() {
	p.underWay.Wait() // a command under way has had its effect by its client's death
	defer p.signal(fault.Crash, design.Program.Kill)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		c.die()
	}
	close(p.death)
	for conn := range p.conns {
		_ = conn.Close() // it is of no more use, whatever the error
	}
	for _, by := range p.relays {
		by.Close()
	}
}

// suspend pauses the process for d, or until the faults end.
func (p *Process) suspend(d time.Duration) bool {
	p.mu.Lock()
	if p.resume != nil || p.crashed.Load() {
		p.mu.Unlock()
		return false
	}
	over := make(chan struct{})
	p.resume = over
	p.recordForAll(history.Pause)
	p.mu.Unlock()
	p.signal(fault.Pause, design.Program.Suspend)

	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.death:
	case <-p.in.lasting.Done():
	}

	p.signal(fault.Pause, design.Program.Resume)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recordForAll(history.Resume)
	p.resume = nil
	close(over)
	return true
}

// signal sends a signal for a fault to the process if it is a program.
func (p *Process) signal(k fault.Kind, send func(design.Program) error) {
	if p.program == nil {
		return
	}
	if err := send(p.program); err != nil && p.program.Err() == nil && !p.crashed.Load() {
		p.in.failed(k, err)
	}
}

// recordForAll records an event for every client of the process. p.mu is held.
func (p *Process) recordForAll(kind history.Kind) {
	for _, c := range p.clients {
		c.record.Event(kind, "", "")
	}
}

// await waits while the process is paused, and reports whether it lives.
func (p *Process) await() bool {
	p.mu.Lock()
	over := p.resume
	p.mu.Unlock()
	if over != nil {
		select {
		case <-over:
		case <-p.death:
		}
	}
	return !p.crashed.Load()
}

// recordOf is the record for events of c, or the process's own record if c is nil.
func (p *Process) recordOf(c *Client) *history.Client {
	if c != nil {
		return c.record
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.record == nil {
		p.record = p.in.recorder.Client(int32(-2-p.number), int32(p.number))
	}
	return p.record
}

// holds reports whether any client of the process holds a lock.
func (p *Process) holds() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		if c.held.Load() > 0 {
			return true
		}
	}
	return false
}

// dialer wraps dial so that its connections end with the process.
func (p *Process) dialer(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if p.crashed.Load() {
			return nil, &net.OpError{Op: "dial", Net: network, Err: errCrashed}
		}
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return p.keep(conn)
	}
}

// keep registers a connection, which is closed when the process dies.
func (p *Process) keep(conn net.Conn) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.crashed.Load() {
		_ = conn.Close()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errCrashed}
	}
	p.conns[conn] = struct{}{}
	return mortal(conn, p), nil
}

func (p *Process) forget(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

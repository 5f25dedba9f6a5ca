package explore

import (
	"fmt"
	"net"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/explore/internal/clientpool"
)

// A process has clients, and the state that a design keeps per operating-system process. It serves
// one schedule after the other.
type process struct {
	number   int
	named    int // the number of the process whose name it has, its own unless it is a successor
	world    *world
	clients  clientpool.Pool
	random   seededSource
	services []any        // the services that the design is opened with
	shared   bool         // it has several clients
	end      func() error // ends a program that serves one schedule after the other

	// Fields of the present schedule:
	inner   design.Process // nil when it is not open
	skew    time.Duration
	crashed bool
	// affected is set if a fault broke its connections, or the schedule ended while it used them.
	affected bool
}

func newProcess(w *world, number int) *process {
	p := &process{number: number, named: number, world: w, shared: w.cfg.Threads > 1, end: func() error { return nil }}
	p.clients.Broken = func() bool { return p.affected }
	options := clientpool.InMemory(func() (net.Conn, error) { return w.server.Dial(number) })
	options.MaxRetries, options.MinRetryBackoff = w.cfg.Retries, -1 // the library's pause before another try is random
	p.services = []any{onredis.Server{Options: options, Clients: &p.clients}}
	return p
}

// open starts the process for a schedule.
func (p *process) open() error {
	w := p.world
	p.skew, p.crashed, p.affected = 0, false, false
	p.random.seed(w.cfg.Seed, p.number)
	env := design.Environment{
		Host:     "server-0",
		PID:      p.pid(),
		Now:      p.now,
		Random:   &p.random,
		Pool:     w.cfg.Pool,
		Services: p.services,
	}
	inner, err := w.cfg.Design.Open(env)
	if err != nil {
		return fmt.Errorf("open process %d of %s: %w", p.number, w.cfg.Design.Name, err)
	}
	p.inner = inner
	if program, is := inner.(interface{ End() error }); is {
		p.end = program.End
	}
	return nil
}

// pid is the process id on the common host. The decimal text of each begins with the id of the
// process before, and so do tokens that contain it: a lock that compares only a prefix of a token
// confuses the two.
func (p *process) pid() int {
	pid := 1000
	for range min(p.named, 12) {
		pid = 10*pid + 1
	}
	return pid + max(0, p.named-12)
}

// now is the process's clock.
func (p *process) now() time.Time {
	p.world.clockRead.Store(true)
	return time.Now().Add(p.skew)
}

// close ends the process. It first cuts its pending commands, because the process may wait for
// their replies.
func (p *process) close() {
	if p.inner == nil {
		return
	}
	p.affected = p.affected || p.crashed || p.world.isUnfinished(p)
	if p.affected && !p.crashed {
		p.world.server.Kill(p.number)
	}
	if p.affected { // also for a dead process: its background waits until it is retired
		p.world.server.Retire()
	}
	if err := p.inner.Close(); err != nil && !p.affected {
		p.world.defect(fmt.Sprintf("close process %d: %v", p.number, err))
	}
	p.inner = nil
}

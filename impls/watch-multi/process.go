package watchmulti

import (
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// pool is the largest number of connections of a process. The document gives no number. No client
// keeps a connection while it sleeps.
const pool = 64

// process is one process, and one identity: all its threads are the same owner to
// the server.
type process struct {
	env    onredis.Environment
	client *redis.Client
	daddy  string // the document's name of the owner
	policy policy
}

func open(env onredis.Environment, wait policy) *process {
	return &process{
		env:    env,
		client: env.Connect(pool),
		daddy:  env.Host + "_" + strconv.Itoa(env.PID),
		policy: wait,
	}
}

// Locker implements design.Process.
func (p *process) Locker(o design.Observer) lockbench.Locker {
	return &locker{process: p, observer: o}
}

// Close implements design.Process. Nothing runs in the background.
func (p *process) Close() error { return p.env.Disconnect(p.client) }

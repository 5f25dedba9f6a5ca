package hashreentrant

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// documentPool is the document's number of connections: five waiters, each of
// which keeps one, leave none for the holder's unlock and for the watchdog.
const documentPool = 5

var (
	//go:embed lock.lua
	lockSource string
	//go:embed unlock.lua
	unlockSource string
	//go:embed renew.lua
	renewSource string

	lockScript   = redis.NewScript(lockSource)
	unlockScript = redis.NewScript(unlockSource)
	renewScript  = redis.NewScript(renewSource)
)

// process is one process of plain or watchdog: a small pool and, for the latter,
// the watchdog, both shared by all its threads.
type process struct {
	env      onredis.Environment
	client   *redis.Client
	owners   owners
	watchdog *watchdog // nil in plain
}

func open(env onredis.Environment, renews bool) (design.Process, error) {
	owners, err := newOwners(env)
	if err != nil {
		return nil, err
	}
	p := &process{env: env, client: env.Connect(documentPool), owners: owners}
	if renews {
		p.watchdog = startWatchdog(p.client)
	}
	return p, nil
}

// Locker implements design.Process. Each locker is a thread with an identity of
// its own.
func (p *process) Locker(o design.Observer) lockbench.Locker {
	return &locker{process: p, owner: p.owners.next(), observer: o}
}

// Close implements design.Process. It cuts the connections first, because a
// renewal that waits for its reply does not notice a cancelled context.
func (p *process) Close() error {
	err := p.env.Disconnect(p.client)
	if p.watchdog != nil {
		p.watchdog.stop()
	}
	return err
}

// owners names the owners of one process: a random UUID and a number.
type owners struct {
	prefix string
	count  *atomic.Int64
}

func newOwners(env onredis.Environment) (owners, error) {
	id, err := uuid.NewRandomFromReader(env.Random)
	if err != nil {
		return owners{}, fmt.Errorf("draw a process identity: %w", err)
	}
	return owners{id.String(), new(atomic.Int64)}, nil
}

func (o owners) next() string {
	return o.prefix + ":" + strconv.FormatInt(o.count.Add(1), 10)
}

// checkLease refuses a lease that PEXPIRE would take for "delete at once".
func checkLease(opt lockbench.Options) error {
	if opt.TTL > 0 {
		return nil
	}
	return fmt.Errorf("lease of %v asked for: %w; hint: ask for more than 0s", opt.TTL, lockbench.ErrNoEffect)
}

// answer reads the reply of a script: a number, or nil.
func answer(cmd *redis.Cmd) (n int64, isNil bool, err error) {
	n, err = cmd.Int64()
	if errors.Is(err, redis.Nil) {
		return 0, true, nil
	}
	return n, false, err
}

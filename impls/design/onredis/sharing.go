package onredis

import (
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// connections is how many a process may open unless its environment says: more
// than it usually has owners, for designs whose documents name no number.
const connections = 64

// Sharing makes the [design.Design.Open] of a design that keeps nothing per process but
// its connections: owner makes each of the process's owners, on one client.
func Sharing(owner func(Environment, *redis.Client, design.Observer) lockbench.Locker) func(design.Environment) (design.Process, error) {
	return Open(func(env Environment) (design.Process, error) {
		return shared{env: env, client: env.Connect(connections), owner: owner}, nil
	})
}

type shared struct {
	env    Environment
	client *redis.Client
	owner  func(Environment, *redis.Client, design.Observer) lockbench.Locker
}

func (s shared) Locker(o design.Observer) lockbench.Locker { return s.owner(s.env, s.client, o) }

func (s shared) Close() error { return s.env.Disconnect(s.client) }

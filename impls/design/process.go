package design

import (
	"github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// connections is how many a process may open unless its environment says: more
// than it usually has owners, for designs whose documents name no number.
const connections = 64

// Sharing makes the [Design.Open] of a design that keeps nothing per process but
// its connections: owner makes each of the process's owners, on one client.
func Sharing(owner func(Environment, *redis.Client, Observer) lockbench.Locker) func(Environment) (Process, error) {
	return func(env Environment) (Process, error) {
		return shared{env: env, client: env.Connect(connections), owner: owner}, nil
	}
}

type shared struct {
	env    Environment
	client *redis.Client
	owner  func(Environment, *redis.Client, Observer) lockbench.Locker
}

func (s shared) Locker(o Observer) lockbench.Locker { return s.owner(s.env, s.client, o) }

func (s shared) Close() error { return s.env.Disconnect(s.client) }

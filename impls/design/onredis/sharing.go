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
		client := env.Connect(connections)
		locker := func(o design.Observer) lockbench.Locker { return owner(env, client, o) }
		return design.NewProcess(locker, func() error { return env.Disconnect(client) }), nil
	})
}

package onredis

import (
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// connections bounds the connections of a process unless its environment does: more
// than the usual number of its owners, for designs with documents that name no number.
const connections = 64

// Sharing makes the [design.Design.Open] of a design with no state per process but its
// connections: owner makes each of the process's owners, on one client.
func Sharing(owner func(Environment, *redis.Client, design.Observer) lockbench.Locker) func(design.Environment) (design.Process, error) {
	return Open(func(env Environment) (design.Process, error) {
		client := env.Connect(connections)
		locker := func(o design.Observer) lockbench.Locker { return owner(env, client, o) }
		return design.NewProcess(locker, func() error { return env.Disconnect(client) }), nil
	})
}

package onredis

import (
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// connections is the largest number of connections of a process unless its environment sets one. It
// is more than the usual number of owners in a process. It is for designs without a number in their
// documents.
const connections = 64

// Sharing returns the [design.Design.Open] of a design that has no state per process except its
// connections. owner returns a new owner; all owners of a process share one client.
func Sharing(owner func(Environment, *redis.Client, design.Observer) lockbench.Locker) func(design.Environment) (design.Process, error) {
	return Open(func(env Environment) (design.Process, error) {
		client := env.Connect(connections)
		locker := func(o design.Observer) lockbench.Locker { return owner(env, client, o) }
		return design.NewProcess(locker, func() error { return env.Disconnect(client) }), nil
	})
}

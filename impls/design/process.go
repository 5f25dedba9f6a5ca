package design

import (
	"github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// Shared is the Process of a design that keeps nothing per process but its
// connections: locker makes each of its owners.
func Shared(client *redis.Client, locker func(Observer) lockbench.Locker) Process {
	return shared{client, locker}
}

type shared struct {
	client *redis.Client
	locker func(Observer) lockbench.Locker
}

func (s shared) Locker(o Observer) lockbench.Locker { return s.locker(o) }

func (s shared) Close() error { return s.client.Close() }

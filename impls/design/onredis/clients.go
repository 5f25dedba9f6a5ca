package onredis

import "github.com/redis/go-redis/v9"

// Clients makes the clients of an [Environment], for drivers that open many
// processes one after the other and reuse their connections. Only one goroutine
// may use it at a time.
type Clients interface {
	// Open returns a client with these options that has no other user.
	Open(opt *redis.Options) *redis.Client
	// Close takes back a client that Open returned. Its pending commands return an error, as if it
	// were closed.
	Close(client *redis.Client) error
}

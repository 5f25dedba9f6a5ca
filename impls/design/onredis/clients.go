package onredis

import "github.com/redis/go-redis/v9"

// Clients are where an [Environment] has its clients from, for drivers that open
// many processes one after the other and reuse their connections. They are used by
// one goroutine at a time.
type Clients interface {
	// Open returns a client with these options, that nobody else uses.
	Open(opt *redis.Options) *redis.Client
	// Close takes back a client that Open returned. What it still waits for is to
	// end with an error, as if it were closed.
	Close(client *redis.Client) error
}

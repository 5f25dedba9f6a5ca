// Package stock is a library with a lock, and knows nothing of lockbench.
package stock

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// The errors of a Mutex.
var (
	ErrTaken = errors.New("stock: another has the lock")
	ErrLost  = errors.New("stock: the lock was lost")
)

// A Mutex is a lock on Redis.
type Mutex struct{ Client *redis.Client }

var (
	take = redis.NewScript(`if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) or redis.call('GET', KEYS[1]) == ARGV[1] then return 1 end return 0`)
	free = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)
)

// Lock takes name for ttl, rounded up to whole milliseconds, and returns the token that frees it.
func (m Mutex) Lock(ctx context.Context, name string, ttl time.Duration) (token string, err error) {
	raw := make([]byte, 16)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	token = hex.EncodeToString(raw)
	taken, err := take.Run(ctx, m.Client, []string{name}, token, int64((ttl+time.Millisecond-1)/time.Millisecond)).Bool()
	if err == nil && !taken {
		err = ErrTaken
	}
	return token, err
}

// Unlock frees name.
func (m Mutex) Unlock(ctx context.Context, name, token string) error {
	n, err := free.Run(ctx, m.Client, []string{name}, token).Int()
	if err == nil && n == 0 {
		err = ErrLost
	}
	return err
}

// Package outside is a module of its own, like the modules of lockbench's users.
// It has locks on Redis, one of them sound.
package outside

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Errors of the locks.
var (
	ErrTaken = errors.New("somebody else has the lock")
	ErrLost  = errors.New("the lock was lost")
)

// A Mutex is a lock on one key, made of the scripts that Lock and Unlock run on
// the server.
type Mutex struct {
	Client       *redis.Client
	Take, Give   *redis.Script
	LooksFirst   bool // calls Take only if the key looks free
	IgnoresGives bool // reports success of Unlock in any case
}

var (
	take        = redis.NewScript(`if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end return 0`)
	takeAlways  = redis.NewScript(`redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`)
	takeForEver = redis.NewScript(`return redis.call('SETNX', KEYS[1], ARGV[1])`)
	takeSeconds = redis.NewScript(`if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', math.floor(ARGV[2] / 1000)) then return 1 end return 0`)
	give        = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)
	giveAlways  = redis.NewScript(`redis.call('DEL', KEYS[1]) return 1`)
)

// The locks: a sound one, and five that are not.
func Sound(c *redis.Client) Mutex    { return Mutex{Client: c, Take: take, Give: give} }
func PlainDel(c *redis.Client) Mutex { return Mutex{Client: c, Take: take, Give: giveAlways} }
func NoLease(c *redis.Client) Mutex  { return Mutex{Client: c, Take: takeForEver, Give: give} }
func Seconds(c *redis.Client) Mutex  { return Mutex{Client: c, Take: takeSeconds, Give: give} }
func Silent(c *redis.Client) Mutex {
	return Mutex{Client: c, Take: take, Give: give, IgnoresGives: true}
}
func GetThenSet(c *redis.Client) Mutex {
	return Mutex{Client: c, Take: takeAlways, Give: give, LooksFirst: true}
}

// Lock takes the key for ttl and returns the token that unlocks it.
func (m Mutex) Lock(ctx context.Context, key string, ttl time.Duration) (token string, err error) {
	if m.LooksFirst {
		if n, err := m.Client.Exists(ctx, key).Result(); err != nil || n > 0 {
			return "", errors.Join(err, ErrTaken)
		}
		time.Sleep(5 * time.Millisecond) // for others to look, too
	}
	token = rand.Text()
	switch n, err := m.Take.Run(ctx, m.Client, []string{key}, token, (ttl + time.Millisecond - 1).Milliseconds()).Int(); {
	case err != nil:
		return "", err
	case n == 0:
		return "", ErrTaken
	}
	return token, nil
}

// Unlock gives the key up.
func (m Mutex) Unlock(ctx context.Context, key, token string) error {
	n, err := m.Give.Run(ctx, m.Client, []string{key}, token).Int()
	if err == nil && n == 0 && !m.IgnoresGives {
		return ErrLost
	}
	return err
}

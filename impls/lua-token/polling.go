package luatoken

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// tryInterval is the pause of the document's polling wrapper (its tryIntervalMillis; the document
// names no value).
//
// The wrapper also takes a maxTryCount and counts `++count >= max`, one try fewer than
// requested: a count of 1 never tries. Options.Wait is a time instead, so the count is the
// number of tries that fit in it, the first one always made.
const tryInterval = 10 * time.Millisecond

// polling is the common part of lua-token/expire and token, stages 3 and 4 of one document:
// they try again until the wait is over, and catch every error.
type polling struct {
	env    onredis.Environment
	client *redis.Client
	seen   design.Observer
}

// lock tries to put value in key until opt.Wait is over.
func (p *polling) lock(ctx context.Context, key, value string, opt lockbench.Options) (design.Validity, error) {
	v := design.Validity{Granted: opt.TTL}
	name := p.env.Prefix + key
	err := design.Poll(ctx, opt.Wait, design.Every(tryInterval), func() (bool, error) {
		v.From = p.seen.Attempt(key)
		won, err := run(ctx, p.client, acquireScript, &name, value, seconds(opt.TTL))
		return won == 1, caught(ctx, err)
	})
	return v, err
}

// seconds is the script's argument for a lease: the requested time with its fraction of a second.
// The script fails if there is a fraction.
func seconds(ttl time.Duration) string {
	return strconv.FormatFloat(ttl.Seconds(), 'f', -1, 64)
}

// caught is the document's catch around the whole wait: a lost reply, a missing connection
// and an error of the script all become false. Only the caller's cancellation comes through.
func caught(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, lockbench.ErrNotAcquired) {
		return err
	}
	return fmt.Errorf("%w: %v", lockbench.ErrNotAcquired, err)
}

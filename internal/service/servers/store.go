package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// storeConnections bounds the connections of a Store. They are opened on demand; clients beyond the
// bound wait for their turn.
const storeConnections = 256

// recordLife is how long a record lives after its last write, so that the records of a killed run
// expire. Scripts write with it, too.
const recordLife = 24 * time.Hour

// A Store keeps the guarded records of a run on a server, as plain strings
// "value version" under prefix + "store:" + key, through connections of its own.
// It is safe for concurrent use.
type Store struct {
	env    onredis.Environment
	client *redis.Client
	prefix string
}

var _ lockbench.Store = (*Store)(nil)

// Records implements [design.Keeper]. They are closed by Close.
func (s *Server) Records(prefix string) design.Records {
	env := onredis.Environment{Redis: s.Options(), Nodes: s.nodes()}
	return &Store{env: env, client: env.Connect(storeConnections), prefix: prefix + "store:"}
}

// Close closes the connections. The records stay until the run is swept.
func (s *Store) Close() error { return s.env.Disconnect(s.client) }

// Read implements [lockbench.Store]. Its errors wrap [lockbench.ErrNoEffect].
func (s *Store) Read(ctx context.Context, key string) (lockbench.Record, error) {
	text, err := s.client.Get(ctx, s.prefix+key).Result()
	if errors.Is(err, redis.Nil) {
		return lockbench.Record{}, nil
	}
	if err != nil {
		return lockbench.Record{}, fmt.Errorf("read record of %q: %w: %w", key, lockbench.ErrNoEffect, err)
	}
	r, err := parseRecord(text)
	if err != nil {
		return r, fmt.Errorf("read record of %q: %w: %w", key, lockbench.ErrNoEffect, err)
	}
	return r, nil
}

// Write implements [lockbench.Store]. Its error wraps [lockbench.ErrNoEffect] if the record was
// certainly not written; after any other error the write may happen, even later.
func (s *Store) Write(ctx context.Context, key string, r lockbench.Record) error {
	err := ctx.Err()
	if err != nil {
		return fmt.Errorf("write record of %q: %w: %w", key, lockbench.ErrNoEffect, err)
	}
	err = s.client.Set(ctx, s.prefix+key, formatRecord(r), recordLife).Err()
	switch {
	case err == nil:
		return nil
	case hadNoEffect(err):
		return fmt.Errorf("write record of %q: %w: %w", key, lockbench.ErrNoEffect, err)
	default:
		return fmt.Errorf("write record of %q: %w", key, err)
	}
}

// hadNoEffect reports whether err proves that a command was not executed: it had no connection, or
// the server answered with an error.
func hadNoEffect(err error) bool {
	var reply redis.Error
	var network *net.OpError
	return errors.As(err, &reply) ||
		errors.As(err, &network) && network.Op == "dial" ||
		errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) || errors.Is(err, redis.ErrClosed)
}

func formatRecord(r lockbench.Record) []byte {
	text := make([]byte, 0, 41) // the longest two numbers and a space
	text = strconv.AppendInt(text, r.Value, 10)
	text = append(text, ' ')
	return strconv.AppendUint(text, r.Version, 10)
}

func parseRecord(text string) (lockbench.Record, error) {
	value, version, _ := strings.Cut(text, " ")
	v, errValue := strconv.ParseInt(value, 10, 64)
	n, errVersion := strconv.ParseUint(version, 10, 64)
	if errValue != nil || errVersion != nil {
		return lockbench.Record{}, fmt.Errorf("%q is not a value and a version; hint: something else writes the keys of this run", text)
	}
	return lockbench.Record{Value: v, Version: n}, nil
}

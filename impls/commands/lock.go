package commands

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// Name is the name of the design of [Lock.Design].
const Name = "commands/lock"

const (
	// tryInterval is the pause between two tries of an acquire that may wait.
	tryInterval = 10 * time.Millisecond
	// connections is the largest number of connections of a process.
	connections = 64
)

// Design returns the lock as a design. It claims what a lease on one server can keep.
func (l Lock) Design() design.Design {
	return design.Design{
		Name:       Name,
		Definition: l.definition(),
		Arguments:  l.Texts.arguments(),
		Summary:    fmt.Sprintf("taken by %s, freed by %s", l.Texts.Take, l.Texts.Free),
		Source:     "the command line",
		Claims:     lockbench.LeaseClaims(),
		Reacquire:  design.Refused,
		Granted:    func(ttl time.Duration) time.Duration { return granted(l.Take, ttl) },
		Commands:   l.names(),
		Open: onredis.Open(func(env onredis.Environment) (design.Process, error) {
			p := &process{env: env, lock: l, client: env.Connect(connections)}
			return design.NewProcess(p.locker, func() error { return env.Disconnect(p.client) }), nil
		}),
	}
}

// Defined returns the design of the lock with this [design.Design.Definition].
func Defined(definition string) (design.Design, error) {
	if definition == "" {
		return design.Design{}, fmt.Errorf("design %s has no commands; hint: give them by --take and --free", Name)
	}
	var l Lock
	if err := json.Unmarshal([]byte(definition), &l); err != nil {
		return design.Design{}, fmt.Errorf("design %s: %w; hint: lockbench writes its definition", Name, err)
	}
	return l.Design(), nil
}

// definition returns the lock as one line of JSON.
func (l Lock) definition() string {
	var b strings.Builder
	text := json.NewEncoder(&b)
	text.SetEscapeHTML(false) // people read it in replay files
	if err := text.Encode(l); err != nil {
		panic(err) // a Lock has texts and nothing else
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A process is one process with the lock.
type process struct {
	lock   Lock
	env    onredis.Environment
	client *redis.Client
}

func (p *process) locker(o design.Observer) lockbench.Locker { return &locker{p, o} }

// A locker is one owner.
type locker struct {
	*process
	seen design.Observer
}

// Acquire implements lockbench.Locker.
func (l *locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	var random [16]byte
	if _, err := io.ReadFull(l.env.Random, random[:]); err != nil {
		return nil, fmt.Errorf("%w: random token: %w", lockbench.ErrNoEffect, err)
	}
	held := lease{locker: l, values: values{key: l.env.Prefix + key, token: hex.EncodeToString(random[:]), ttl: opt.TTL, now: l.env.Now}}
	held.Granted = granted(l.lock.Take, opt.TTL)
	err := design.Poll(ctx, opt.Wait, design.Every(tryInterval), func() (bool, error) {
		held.From = l.seen.Attempt(key)
		return l.send(ctx, l.lock.Take, held.values)
	})
	if err != nil {
		return nil, fmt.Errorf("take %q: %w", key, err)
	}
	if l.lock.Extend == nil {
		return &held, nil
	}
	return &extender{held}, nil
}

// A doer sends one command: a client, or one of its connections.
type doer interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
}

// send sends the commands of a text, and reports whether all say yes. A transaction has a connection
// of its own, and leaves nothing watched or queued there.
func (p *process) send(ctx context.Context, text []command, v values) (said bool, err error) {
	var to doer = p.client
	if slices.ContainsFunc(text, func(c command) bool { return ends[c.name()] != "" }) {
		conn := p.client.Conn()
		defer conn.Close()
		to = conn
	}
	end := "" // the command that ends what was begun
	defer func() {
		if end == "" {
			return
		}
		if failed := to.Do(ctx, end).Err(); failed != nil && err == nil {
			said, err = false, fmt.Errorf("%s: %v", end, failed)
		}
	}()
	for i := range text {
		c := &text[i]
		reply, err := to.Do(ctx, c.filled(v)...).Result()
		switch {
		case errors.Is(err, redis.Nil):
			reply = nil
		case err != nil && i > 0: // the type of the error would be taken to concern the commands before, too
			return false, fmt.Errorf("%s: %v", c.name(), err)
		case err != nil:
			return false, fmt.Errorf("%s: %w", c.name(), onredis.NoEffect(err))
		}
		switch name := c.name(); name {
		case "WATCH", "MULTI":
			end = ends[name]
		case "EXEC", "DISCARD", "UNWATCH":
			end = ""
		}
		if said = c.says(reply, v); !said {
			break
		}
	}
	return said, nil
}

// A lease is a grant.
type lease struct {
	design.Validity
	*locker
	values values
}

// Release implements lockbench.Lease.
func (l *lease) Release(ctx context.Context) error { return l.held(l.send(ctx, l.lock.Free, l.values)) }

func (l *lease) held(said bool, err error) error {
	if err == nil && !said {
		return lockbench.ErrNotHeld
	}
	return err
}

// An extender is a grant of a lock that can be extended.
type extender struct{ lease }

// Extend implements lockbench.Extender.
func (l *extender) Extend(ctx context.Context, ttl time.Duration) error {
	start := time.Now() // real time, like the start of an attempt
	v := l.values
	v.ttl = ttl
	if err := l.held(l.send(ctx, l.lock.Extend, v)); err != nil {
		return err
	}
	l.From, l.Granted = start, granted(l.lock.Extend, ttl)
	return nil
}

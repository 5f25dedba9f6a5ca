package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
)

// recordName begins the names of records, after the prefix of the run.
const recordName = "record-"

// nodes are records, a node each.
type nodes struct {
	server *Server
	prefix string

	mu   sync.Mutex
	conn *conn // nil before the first request, and after one that failed
}

// Records implements [design.Keeper].
func (s *Server) Records(prefix string) design.Records {
	return backend.Swapped(&nodes{server: s, prefix: prefix})
}

func (n *nodes) path(key string) string {
	return n.server.root + "/" + n.prefix + recordName + url.PathEscape(key)
}

// with calls f with the session.
func (n *nodes) with(ctx context.Context, f func(*conn) error) (err error) {
	n.mu.Lock()
	if n.conn == nil {
		if n.conn, err = n.server.connect(ctx); err != nil {
			n.mu.Unlock()
			return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
		}
	}
	c := n.conn
	n.mu.Unlock()
	err = f(c)
	var answered code
	if err == nil || errors.As(err, &answered) {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conn == c {
		c.close()
		n.conn = nil
	}
	return err
}

// Get implements [backend.Swapper]. A revision is the version of the node, from 1.
func (n *nodes) Get(ctx context.Context, key string) (value []byte, revision int64, err error) {
	err = n.with(ctx, func(c *conn) error {
		var of stat
		if value, of, err = c.get(ctx, n.path(key)); err == nil {
			revision = int64(of.version) + 1
		}
		return err
	})
	if errors.Is(err, noNode) {
		err = nil
	}
	return value, revision, err
}

// Swap implements [backend.Swapper].
func (n *nodes) Swap(ctx context.Context, key string, value []byte, revision int64) (swapped bool, err error) {
	err = n.with(ctx, func(c *conn) error {
		if revision == 0 {
			return c.create(ctx, n.path(key), value)
		}
		return c.set(ctx, n.path(key), value, int32(revision-1))
	})
	switch {
	case errors.Is(err, nodeExists) || errors.Is(err, badVersion) || errors.Is(err, noNode) && revision > 0:
		return false, nil
	case errors.As(err, new(code)):
		err = fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	return err == nil, err
}

// Close implements [backend.Swapper].
func (n *nodes) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conn != nil {
		n.conn.close()
		n.conn = nil
	}
	return nil
}

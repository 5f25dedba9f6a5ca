package backend

import (
	"maps"
	"strings"
	"sync"
)

// Created has the names of what was created on a service. The zero value has none, and it is safe for
// concurrent use.
type Created struct {
	mu    sync.Mutex
	names map[string]bool
}

// Once calls create, unless it has succeeded for name before.
func (c *Created) Once(name string, create func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.names[name] {
		return nil
	}
	if err := create(); err != nil {
		return err
	}
	if c.names == nil {
		c.names = map[string]bool{}
	}
	c.names[name] = true
	return nil
}

// Sweep calls remove, and forgets the names that begin with prefix if it succeeds. Nothing is created
// meanwhile.
func (c *Created) Sweep(prefix string, remove func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := remove(); err != nil {
		return err
	}
	maps.DeleteFunc(c.names, func(name string, _ bool) bool { return strings.HasPrefix(name, prefix) })
	return nil
}

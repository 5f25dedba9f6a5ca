package impls

import (
	"fmt"
	"path"
	"slices"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/file"
	hashreentrant "github.com/lockbench/lockbench/impls/hash-reentrant"
	luatoken "github.com/lockbench/lockbench/impls/lua-token"
	"github.com/lockbench/lockbench/impls/mariadb"
	"github.com/lockbench/lockbench/impls/nats"
	"github.com/lockbench/lockbench/impls/postgres"
	"github.com/lockbench/lockbench/impls/redislock"
	"github.com/lockbench/lockbench/impls/redsync"
	"github.com/lockbench/lockbench/impls/rueidislock"
	setnxgetset "github.com/lockbench/lockbench/impls/setnx-getset"
	watchmulti "github.com/lockbench/lockbench/impls/watch-multi"
	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// All returns every design of the catalogue, family by family and always in the same order:
// lockbench's own designs first, then the libraries of other authors.
func All() []design.Design {
	return slices.Concat(
		setnxgetset.Designs(),
		luatoken.Designs(),
		hashreentrant.Designs(),
		watchmulti.Designs(),
		file.Designs(),
		postgres.Designs(),
		mariadb.Designs(),
		nats.Designs(),
		redislock.Designs(),
		redsync.Designs(),
		rueidislock.Designs(),
	)
}

// Tour returns the designs that are run if no design is named: a documented one for each way in which
// locks fail, and the best.
func Tour() []design.Design {
	tour, err := Match("setnx-getset/naive", "setnx-getset/timestamp", "lua-token/token", "lua-token/strategy", "hash-reentrant/notify")
	if err != nil {
		panic(err) // a name in this package
	}
	return tour
}

// Documented returns the designs of [All] that lockbench implements itself, from documents, on
// Redis.
func Documented() []design.Design {
	return slices.DeleteFunc(All(), func(d design.Design) bool { return d.Library != "" || d.Backend != nil })
}

// Names returns the names of the designs of [All], in the same order.
func Names() []string {
	var names []string
	for _, d := range All() {
		names = append(names, d.Name)
	}
	return names
}

// Match returns the designs that any of the patterns selects, each once, in the order of [All]. A
// pattern is a name or a glob of package path ("lua-token/*", "*/poll"). It returns an error for
// the first pattern that is malformed or selects nothing; the latter error has similar names.
func Match(patterns ...string) ([]design.Design, error) {
	wanted := map[string]bool{}
	for _, pattern := range patterns {
		names, err := match(pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			wanted[name] = true
		}
	}
	return slices.DeleteFunc(All(), func(d design.Design) bool { return !wanted[d.Name] }), nil
}

func match(pattern string) ([]string, error) {
	var matched []string
	for _, name := range Names() {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return nil, fmt.Errorf("design pattern %q: %w; hint: quote *, ? and [ with a backslash to mean them", pattern, err)
		}
		if ok {
			matched = append(matched, name)
		}
	}
	if len(matched) == 0 {
		if err := noLock(pattern); err != nil {
			return nil, err
		}
		return nil, suggest.Unknown("design", pattern, append(Names(), globs()...))
	}
	return matched, nil
}

// globs returns a pattern for each family, which selects all its designs.
func globs() []string {
	var all []string
	for _, name := range Names() {
		all = append(all, path.Dir(name)+"/*")
	}
	return slices.Compact(all)
}

package impls_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lockbench/lockbench/impls"
)

func TestNamesAreStable(t *testing.T) {
	want := []string{
		"setnx-getset/naive", "setnx-getset/expiry", "setnx-getset/timestamp",
		"lua-token/expire", "lua-token/token", "lua-token/options", "lua-token/strategy", "lua-token/fenced", "lua-token/batched",
		"hash-reentrant/plain", "hash-reentrant/watchdog", "hash-reentrant/notify",
		"watch-multi/give-up", "watch-multi/poll",
		"file/presence", "file/excl", "file/flock",
		"postgres/session", "postgres/session-pooled", "postgres/transaction", "postgres/row",
		"mariadb/session", "mariadb/pooled", "mariadb/row",
		"nats/kv", "nats/kv-delete",
		"redislock/obtain", "redislock/multi", "redsync/single", "redsync/quorum",
		"rueidislock/tracking", "rueidislock/noloop", "rueidislock/polling",
	}
	if diff := cmp.Diff(impls.Names(), want); diff != "" {
		t.Errorf("names (-got +want):\n%s", diff)
	}
}

func TestEveryFamilyHasItsFolder(t *testing.T) {
	for _, d := range impls.All() {
		family, _, _ := strings.Cut(d.Name, "/")
		if files, err := filepath.Glob(filepath.Join(family, "doc.go")); err != nil || len(files) != 1 {
			t.Errorf("%s: no folder %s with a doc.go", d.Name, family)
		}
		claims := len(d.Claims.Keeps) > 0 || d.Name == "postgres/session-pooled" || d.Name == "mariadb/pooled" // which keep nothing
		if d.Open == nil || !claims || len(d.Commands) == 0 && d.Backend == nil {
			t.Errorf("%s: incomplete: claims %v, commands %v", d.Name, d.Claims, d.Commands)
		}
	}
}

// TestLibrariesAreThoseBuiltIn compares the versions in reports with the module's
// requirements.
func TestLibrariesAreThoseBuiltIn(t *testing.T) {
	required, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range impls.All() {
		if line := strings.Replace(d.Library, "@", " ", 1); !strings.Contains(string(required), "\t"+line) {
			t.Errorf("%s: library %q is not in go.mod", d.Name, d.Library)
		}
	}
	for _, d := range impls.Documented() {
		if d.Library != "" {
			t.Errorf("%s is documented, yet of library %s", d.Name, d.Library)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name     string
		patterns []string
		want     []string
		hint     string // in the error, instead
	}{
		{"a name", []string{"lua-token/token"}, []string{"lua-token/token"}, ""},
		{"a family", []string{"setnx-getset/*"}, []string{"setnx-getset/naive", "setnx-getset/expiry", "setnx-getset/timestamp"}, ""},
		{"a variant", []string{"*/pl*", "*/poll"}, []string{"hash-reentrant/plain", "watch-multi/poll"}, ""},
		{"catalogue's order, each once", []string{"watch-multi/poll", "lua-token/token", "*/poll"}, []string{"lua-token/token", "watch-multi/poll"}, ""},
		{"none", nil, nil, ""},
		{"a mistyped name", []string{"lua-tokn/token"}, nil, "did you mean lua-token/token"},
		{"a family's name", []string{"watch-multi"}, nil, "did you mean watch-multi/"},
		{"a mistyped family", []string{"lua-tokens/*"}, nil, "lua-token/*"},
		{"a malformed glob", []string{"[lua"}, nil, "syntax error in pattern; hint:"},
		{"the empty name", []string{""}, nil, "known are setnx-getset/naive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			designs, err := impls.Match(c.patterns...)
			var got []string
			for _, d := range designs {
				got = append(got, d.Name)
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("designs (-got +want):\n%s", diff)
			}
			if c.hint == "" && err != nil || c.hint != "" && (err == nil || !strings.Contains(err.Error(), c.hint)) {
				t.Errorf("error %v, want %q in it", err, c.hint)
			}
		})
	}
}

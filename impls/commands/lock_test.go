package commands_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/impls/commands"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestContract checks a lock of single commands, and one of transactions, like any design.
func TestContract(t *testing.T) {
	for name, texts := range map[string]commands.Texts{
		"single": {
			Take:   "SET {key} {token} NX PX {ttl_ms}",
			Free:   "EVAL @../../examples/free.lua 1 {key} {token}",
			Extend: "EVAL \"return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2])\" 1 {key} {token} {ttl_ms}",
		},
		"transactions": {
			Take: "WATCH {key}; GET {key} => nil; MULTI; SET {key} {token} PX {ttl_ms}; EXEC",
			Free: "WATCH {key}; GET {key} => {token}; MULTI; DEL {key}; EXEC",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := texts.Parse()
			if err != nil {
				t.Fatal(err)
			}
			designtest.Contract(t, []design.Design{l.Design()})
		})
	}
}

// TestDefined checks that a child process gets the lock whole, with the contents of files.
func TestDefined(t *testing.T) {
	lock, err := commands.Texts{Take: "SET {key} {token} NX PX {ttl_ms} => OK", Free: "EVAL @../../examples/free.lua 1 {key} {token}"}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	want := lock.Design()
	got, err := commands.Defined(want.Definition)
	if err != nil || got.Definition != want.Definition || !strings.Contains(got.Definition, "redis.call") {
		t.Errorf("error %v, got %s, want %s", err, got.Definition, want.Definition)
	}
	if want := "--take 'SET {key} {token} NX PX {ttl_ms} => OK' --free 'EVAL @../../examples/free.lua 1 {key} {token}'"; got.Arguments != want {
		t.Errorf("arguments: got %s, want %s", got.Arguments, want)
	}
	if got, err := commands.Defined(""); err == nil {
		t.Errorf("no definition: got %v", got)
	}
}

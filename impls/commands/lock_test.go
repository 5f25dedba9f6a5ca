package commands_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestExported checks that a child process gets the lock whole, with the contents of files.
func TestExported(t *testing.T) {
	t.Setenv("LOCKBENCH_COMMANDS", "") // and back after the test
	want, err := commands.Texts{Take: "SET {key} {token} NX PX {ttl_ms} => OK", Free: "EVAL @../../examples/free.lua 1 {key} {token}"}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	if err := want.Export(); err != nil {
		t.Fatal(err)
	}
	got, err := commands.Exported()
	if diff := cmp.Diff(got, want); err != nil || diff != "" {
		t.Errorf("error %v (-got +want):\n%s", err, diff)
	}
}

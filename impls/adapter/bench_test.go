//go:build unix

package adapter_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/design"
)

// TestBench measures fakes: every cost is known of a sound one, the bare loop is unknown without the
// operation for it, and a lock that fails is an error.
func TestBench(t *testing.T) {
	for _, tt := range []struct{ fault, unknown, err string }{
		{"sound", "", ""},
		{"no repeat", "operation had no effect: no-effect", ""},
		{"keeps", "", "acquire: lock not acquired"},
		{"repeats once", "", "repeat of 5 pairs: lock not acquired"},
		{"no time", "", "repeat of 5 pairs: took_ns 0"},
		{"exits", "", "out of luck"},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			hello, c, err := adapter.Bench(t.Context(), fake(t, tt.fault), func(b design.Backend) (design.Environment, string, error) { env, err := on(t)(b); return env, "", err }, 3, 5)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if hello.Library != "fake" || !c.Relayed || c.Noop <= 0 || c.Steps <= 0 {
				t.Errorf("hello %v, costs %+v", hello, c)
			}
			if c.BareUnknown != tt.unknown || (c.Bare > 0) != (tt.unknown == "") {
				t.Errorf("bare loop %v, unknown %q; want unknown %q", c.Bare, c.BareUnknown, tt.unknown)
			}
		})
	}
}

package suggest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/lib/suggest"
)

func TestNear(t *testing.T) {
	for _, c := range []struct {
		name  string
		known []string
		want  []string
	}{
		{"clinets", []string{"keys", "clients"}, []string{"clients"}},
		{"redis", []string{"design", "server"}, []string{"server"}},
		{"redis", []string{"redislock/obtain", "lua-token/token"}, []string{"redislock/obtain"}},
		{"zzz", []string{"keys", ""}, nil},
	} {
		if diff := cmp.Diff(suggest.Near(c.name, c.known), c.want); diff != "" {
			t.Errorf("%s among %q (-got +want):\n%s", c.name, c.known, diff)
		}
	}
}

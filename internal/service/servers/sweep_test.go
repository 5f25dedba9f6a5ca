package servers_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/service/servers"
)

func TestSweepRemovesTheRunsKeysOnly(t *testing.T) {
	eachServer(t, func(t *testing.T, s *servers.Server) {
		client := redis.NewClient(s.Options())
		defer client.Close()
		const prefix = `run[1]*?\:`
		var pairs []any
		for i := range 2500 {
			pairs = append(pairs, fmt.Sprint(prefix, i), "ours", fmt.Sprint("foreign:", i), "theirs")
		}
		foreign := []string{"run1:x", "run[1]x", `run[1]*?\`, `run1abc\:y`}
		for _, key := range foreign {
			pairs = append(pairs, key, "theirs")
		}
		if err := client.MSet(t.Context(), pairs...).Err(); err != nil {
			t.Fatal(err)
		}
		n, err := s.Sweep(t.Context(), prefix)
		if n != 2500 || err != nil {
			t.Errorf("removed %d, error %v; want 2500", n, err)
		}
		if left := client.DBSize(t.Context()).Val(); left != int64(2500+len(foreign)) {
			t.Errorf("%d keys left, want all the foreign ones", left)
		}
		if n, err := s.Sweep(t.Context(), prefix); n != 0 || err != nil {
			t.Errorf("again: removed %d, error %v; want 0", n, err)
		}
	})
}

func TestSweepWithoutPrefixIsRefused(t *testing.T) {
	if _, err := startEmbedded(t).Sweep(t.Context(), ""); err == nil {
		t.Error("sweeps everything")
	}
}

func TestSweepDoesWithoutUnlink(t *testing.T) {
	var asked []string
	s, err := servers.Connect(t.Context(), "redis://"+fake(t, oldRedis(&asked)))
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.Sweep(t.Context(), "p:")
	if n != 1 || err != nil {
		t.Errorf("removed %d, error %v; want 1", n, err)
	}
	if diff := cmp.Diff(asked[len(asked)-3:], []string{"scan", "unlink", "del"}); diff != "" {
		t.Errorf("commands (-got +want):\n%s", diff)
	}
}

func TestPrefixesDiffer(t *testing.T) {
	a, b := servers.NewPrefix(), servers.NewPrefix()
	if a == b || !regexp.MustCompile(`^lockbench:[0-9a-f]{8}:$`).MatchString(a) {
		t.Errorf("prefixes %q and %q", a, b)
	}
}

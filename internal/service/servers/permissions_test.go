package servers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// restricted returns a private server for a user with only these rules, and a client of its
// administrator.
func restricted(t *testing.T, rules ...any) (*servers.Server, *redis.Client) {
	t.Helper()
	private := servertest.Start(t)
	admin := redis.NewClient(private.Options())
	t.Cleanup(func() { _ = admin.Close() })
	if err := admin.Do(t.Context(), append([]any{"ACL", "SETUSER", "worker", "reset", "on", ">" + secret}, rules...)...).Err(); err != nil {
		t.Fatal(err)
	}
	s, err := servers.Connect(t.Context(), fmt.Sprintf("unix://worker:%s@%s", secret, private.Options().Addr))
	if err != nil {
		t.Fatal(err)
	}
	return s, admin
}

func TestCheckNamesWhatTheUserMayNotDo(t *testing.T) {
	const ours = "~lockbench:*"
	for _, c := range []struct {
		name  string
		rules []any
		needs []string
		want  []string // in the error; none for no error
	}{
		{"all that is needed", []any{ours, "&lockbench:*", "+@all"}, []string{"SET", "EVALSHA", "EVAL", "WATCH", "MULTI", "EXEC", "PUBLISH", "SUBSCRIBE", "SCRIPT LOAD"}, nil},
		{"no more than is needed", []any{ours, "+set", "+get", "+evalsha", "+eval", "+del"}, []string{"SET", "GET", "EVALSHA", "EVAL", "DEL"}, nil},
		{"no scripts", []any{ours, "+@all", "-eval", "-evalsha"}, []string{"SET", "EVALSHA", "EVAL"},
			[]string{`user "worker" may not run EVALSHA, EVAL: NOPERM `, "hint: ACL SETUSER worker +evalsha +eval"}},
		{"no loading of scripts", []any{ours, "+@all", "-script|load"}, []string{"SCRIPT LOAD", "EVAL"},
			[]string{"may not run SCRIPT LOAD: ", "+script|load"}},
		{"no writing, and no transactions", []any{ours, "+@read", "+ping"}, []string{"GET", "SET", "MULTI", "EXEC"},
			[]string{"may not run MULTI, EXEC, SET: ", "+multi +exec +set"}},
		{"other keys", []any{"~app:*", "+@all"}, []string{"SET", "EVALSHA", "EVAL"},
			[]string{"may not access the keys lockbench:*: NOPERM ", "hint: ACL SETUSER worker ~lockbench:*"}},
		{"no channels", []any{ours, "resetchannels", "+@all"}, []string{"SET", "PUBLISH", "SUBSCRIBE"},
			[]string{"may not access the channels lockbench:*: NOPERM ", "hint: ACL SETUSER worker &lockbench:*"}},
		{"no subscribing, and no transactions", []any{ours, "&*", "+@all", "-multi", "-subscribe"}, []string{"SET", "PUBLISH", "SUBSCRIBE"},
			[]string{"may not run SUBSCRIBE: ", "+subscribe"}},
		{"several", []any{"~app:*", "+@all", "-set"}, []string{"SET", "GET"},
			[]string{"may not run SET and access the keys lockbench:*: ", "hint: ACL SETUSER worker +set ~lockbench:*"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, admin := restricted(t, c.rules...)
			err := s.Check(t.Context(), c.needs)
			if (err != nil) != (len(c.want) > 0) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
			for _, want := range c.want {
				if err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret)) {
					t.Errorf("got error %v, want %q in it, and no password", err, want)
				}
			}
			if left, err := admin.Keys(t.Context(), "*").Result(); err != nil || len(left) > 0 {
				t.Errorf("error %v, keys left: %q", err, left)
			}
		})
	}
}

// TestLostSaysWhatIsGoneWithout: a user who may not run commands that only lockbench needs is
// accepted.
func TestLostSaysWhatIsGoneWithout(t *testing.T) {
	s, _ := restricted(t, "~lockbench:*", "+@all", "-info", "-scan", "-command", "-client", "-config", "-ping", "-keys")
	if err := s.Check(t.Context(), []string{"SET", "EVALSHA"}); err != nil {
		t.Errorf("turned away: %v", err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("it answers, and Ping returns %v", err)
	}
	said := strings.Join(s.Lost(t.Context()), "\n")
	for _, want := range []string{"SCAN cannot be run: ", "INFO cannot be run: ", "COMMAND cannot be run: "} {
		if !strings.Contains(said, want) {
			t.Errorf("said %q, want %q in it", said, want)
		}
	}
	all, _ := restricted(t, "~lockbench:*", "+@all")
	if lost := all.Lost(t.Context()); len(lost) > 0 {
		t.Errorf("of a user who may do everything: %q", lost)
	}
}

// TestSweepWithoutUnlink: keys are removed by DEL if the user may not UNLINK.
func TestSweepWithoutUnlink(t *testing.T) {
	s, admin := restricted(t, "~lockbench:*", "+@all", "-unlink")
	if err := admin.Set(t.Context(), "lockbench:a", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Sweep(t.Context(), "lockbench:"); n != 1 || err != nil {
		t.Errorf("removed %d, error %v, want 1", n, err)
	}
}

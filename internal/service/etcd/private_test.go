package etcd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/etcd"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a private server, which ends with t.
func start(t *testing.T) *etcd.Server { return servicetest.Start(t, etcd.Start) }

func TestPrivate(t *testing.T) { servicetest.Run(t, etcd.Start, "etcd 3.", servicetest.Kill) }

// open opens the server at an address as a user's own.
func open(t *testing.T, address string) (design.Service, error) {
	t.Helper()
	all, err := etcd.Backend{}.Open(t.Context(), []string{address}, 1)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// do sends a request of the root user to a server, with a token unless that is empty, and returns the
// field of the answer.
func do(t *testing.T, s *etcd.Server, token, path string, ask map[string]any, field string) (value any) {
	t.Helper()
	body, err := json.Marshal(ask)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.Endpoint()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	got := map[string]any{}
	if err := errors.Join(err, json.Unmarshal(text, &got)); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s, error %v", path, response.Status, text, err)
	}
	return got[field]
}

// TestSessionsEnd checks that EndSessions ends leases with their keys, and no key without a lease.
func TestSessionsEnd(t *testing.T) {
	s := start(t)
	for range 3 {
		lease := do(t, s, "", "/v3/lease/grant", map[string]any{"TTL": 60}, "ID")
		do(t, s, "", "/v3/kv/put", map[string]any{"key": []byte(fmt.Sprint("held", lease)), "lease": lease}, "")
	}
	do(t, s, "", "/v3/kv/put", map[string]any{"key": []byte("held")}, "")
	if err := s.EndSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := do(t, s, "", "/v3/kv/range", map[string]any{"key": []byte("h"), "range_end": []byte("i")}, "count"); n != "1" {
		t.Errorf("%v keys are left, want the one without a lease", n)
	}
	if left := do(t, s, "", "/v3/lease/leases", map[string]any{}, "leases"); left != nil {
		t.Errorf("leases %v are left", left)
	}
}

// TestLeaderLost checks that three members keep a key through the loss of leaders, that each loss brings an
// election, and that no process is left.
func TestLeaderLost(t *testing.T) {
	s := start(t)
	for range 2 { // the second does nothing
		if err := s.Enlarge(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if members := do(t, s, "", "/v3/cluster/member/list", map[string]any{}, "members").([]any); len(members) != 3 {
		t.Fatalf("%d members", len(members))
	}
	key := []byte("held")
	do(t, s, "", "/v3/kv/put", map[string]any{"key": key}, "")
	for range 3 {
		before, err := s.Term(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		killed := false
		if err := s.LoseLeader(t.Context(), func() { killed = true }); err != nil {
			t.Fatal(err)
		}
		if after, err := s.Term(t.Context()); after <= before || !killed || err != nil {
			t.Errorf("term %d before and %d after, killed: %t, error %v", before, after, killed, err)
		}
	}
	if n := do(t, s, "", "/v3/kv/range", map[string]any{"key": key}, "count"); n != "1" {
		t.Errorf("%v keys, want 1", n)
	}
	if err := s.Restart(t.Context(), func() {}); err != nil {
		t.Errorf("the first member: %v", err)
	}
}

// TestUsers checks that a run of a user who may not write the keys of runs is refused, and that one who may
// do so, and nothing else, sweeps and keeps records.
func TestUsers(t *testing.T) {
	s := start(t)
	key := func(text string) []byte { return []byte(text) }
	for _, step := range []struct {
		path string
		ask  map[string]any
	}{
		{"user/add", map[string]any{"name": "root", "password": "r"}},
		{"user/grant", map[string]any{"user": "root", "role": "root"}},
		{"user/add", map[string]any{"name": "guest", "password": "p"}},
		{"user/add", map[string]any{"name": "reader", "password": "p"}},
		{"user/add", map[string]any{"name": "renter", "password": "p"}},
		{"role/add", map[string]any{"name": "reading"}},
		{"role/add", map[string]any{"name": "renting"}},
		{"role/grant", map[string]any{"name": "reading", "perm": map[string]any{"permType": "READ", "key": key("lockbench:"), "range_end": key("lockbench;")}}},
		{"role/grant", map[string]any{"name": "renting", "perm": map[string]any{"permType": "READWRITE", "key": key("lockbench:"), "range_end": key("lockbench;")}}},
		{"user/grant", map[string]any{"user": "reader", "role": "reading"}},
		{"user/grant", map[string]any{"user": "renter", "role": "renting"}},
		{"enable", map[string]any{}},
	} {
		do(t, s, "", "/v3/auth/"+step.path, step.ask, "")
	}
	for user, may := range map[string]bool{"guest:p@": false, "reader:p@": false, "renter:p@": true, "renter:wrong@": false, "": false} {
		theirs, err := open(t, "etcd://"+user+s.Endpoint())
		if err != nil {
			t.Fatal(err)
		}
		err = theirs.Check(t.Context(), nil)
		if (err == nil) != may || err != nil && (!strings.Contains(err.Error(), "hint: ") || strings.Contains(err.Error(), "wrong")) {
			t.Errorf("%q: %v", user, err)
		}
		if theirs.Kind() != design.External || theirs.Address() != "etcd://"+s.Endpoint() {
			t.Errorf("%s server at %s", theirs.Kind(), theirs.Address())
		}
		if got, want := theirs.Reach().(design.Addressed).URL("127.0.0.1:1"), "etcd://"+user+"127.0.0.1:1"; got != want {
			t.Errorf("URL %s, want %s", got, want)
		}
		if !may {
			continue
		}
		records := theirs.(design.Keeper).Records("lockbench:1:")
		defer records.Close()
		if err := records.Write(t.Context(), "k", lockbench.Record{Value: 1, Version: 1}); err != nil {
			t.Error(err)
		}
		if n, err := theirs.Sweep(t.Context(), "lockbench:1:"); n != 1 || err != nil {
			t.Errorf("swept %d keys, error %v, want 1", n, err)
		}
		root := do(t, s, "", "/v3/auth/authenticate", map[string]any{"name": "root", "password": "r"}, "token").(string)
		if left := do(t, s, root, "/v3/kv/range", map[string]any{"key": []byte{0}, "range_end": []byte{0}}, "count"); left != nil {
			t.Errorf("%v keys are left", left)
		}
		do(t, s, root, "/v3/auth/user/changepw", map[string]any{"name": "renter", "password": "p"}, "") // which ends its tokens
		if err := records.Write(t.Context(), "k", lockbench.Record{Value: 2, Version: 2}); err != nil {
			t.Errorf("after its token has ended: %v", err)
		}
	}
}

// TestAddresses checks that an error of an address names it, without the password, and has a hint.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"etcd://":                         "not the host of an etcd alone",
		"etcd://u:secret@h:1/keys":        "etcd://u:xxxxx@h:1/keys",
		"etcd://u:secret@h:1?tls=1":       "not the host of an etcd alone",
		"etcd://u:secret@h:port":          "invalid port",
		"etcd://u:secret@127.0.0.1:1":     "etcd://127.0.0.1:1: ",
		"etcd://u:secret@127.0.0.1:1 \n2": "invalid",
	} {
		_, err := open(t, address)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "hint: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want %q", address, err, want)
		}
	}
	if _, err := (etcd.Backend{}).Open(t.Context(), []string{"etcd://h"}, 2); err == nil || !strings.Contains(err.Error(), "1 given") {
		t.Errorf("one address for two servers: error %v", err)
	}
}

// TestForeign checks that another server than the one that was started is recognized.
func TestForeign(t *testing.T) {
	s, other := start(t), start(t)
	if err := s.AnswersAt(t.Context(), s.Endpoint()); err != nil {
		t.Error(err)
	}
	if err := s.AnswersAt(t.Context(), other.Endpoint()); !errors.Is(err, daemon.ErrForeign) {
		t.Errorf("another server answers: error %v", err)
	}
}

// TestMissing checks the error without etcd.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := (etcd.Backend{}).Missing(); !errors.Is(err, etcd.ErrNoProgram) {
		t.Errorf("got %v, want that there is no program", err)
	}
	if _, err := (etcd.Backend{}).Open(t.Context(), nil, 1); !errors.Is(err, etcd.ErrNoProgram) {
		t.Errorf("got %v, want that there is no program", err)
	}
}

// TestOldProgram checks that a program that does not know every option is started without it.
func TestOldProgram(t *testing.T) {
	program, err := exec.LookPath("etcd")
	if err != nil {
		servertest.Need(t, etcd.ErrNoProgram)
	}
	dir := t.TempDir()
	old := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *unsafe*) exit 2;; esac\nexec %s \"$@\"\n", program)
	if err := os.WriteFile(filepath.Join(dir, "etcd"), []byte(old), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := start(t).Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

package nats_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/nats"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a private server, which ends with t.
func start(t *testing.T) *nats.Server { return servicetest.Start(t, nats.Start) }

func TestPrivate(t *testing.T) { servicetest.Run(t, nats.Start, "nats-server 2.", servicetest.Kill) }

// TestTogether checks that several machines can make a run with one prefix.
func TestTogether(t *testing.T) { servicetest.Together(t, start(t), nats.Backend{}) }

// TestPassword checks that a private server refuses those who do not know its password.
func TestPassword(t *testing.T) {
	if _, err := nats.Connect(t.Context(), start(t).Address()); !errors.Is(err, natsgo.ErrAuthorization) {
		t.Errorf("got %v", err)
	}
}

// TestProlongs checks that a lease that ends while the server is down lasts a little longer.
func TestProlongs(t *testing.T) {
	s := start(t)
	l := s.Reach().(*nats.Access).Link("test:", nil)
	defer l.Close()
	for t.Context().Err() == nil { // on a busy machine the look may come too late
		key, from := nats.Key("locks", rand.Text()), time.Now()
		var found error
		if err := errors.Join(
			l.Do(t.Context(), func(ctx context.Context, on nats.Conn) error {
				_, err := on.Bucket.Create(ctx, key, nil, jetstream.KeyTTL(time.Second))
				return err
			}),
			s.Restart(t.Context(), func() { time.Sleep(1100*time.Millisecond - time.Since(from)) }),
			l.Do(t.Context(), func(ctx context.Context, on nats.Conn) error {
				_, found = on.Bucket.Get(ctx, key)
				return nil
			})); err != nil {
			t.Fatal(err)
		}
		if found == nil {
			return
		}
	}
}

// TestRestart checks that a restart, which is a kill, ends connections, and keeps every entry that was
// acknowledged, and the order of revisions. No request is sent after it has failed.
func TestRestart(t *testing.T) {
	s := start(t)
	l := s.Reach().(*nats.Access).Link("test:", nil)
	defer l.Close()
	var last uint64
	create := func(key string) error {
		var revision uint64
		err := l.Do(t.Context(), func(ctx context.Context, on nats.Conn) (err error) {
			revision, err = on.Bucket.Create(ctx, nats.Key("locks", key), nil, jetstream.KeyTTL(time.Hour))
			return err
		})
		if err == nil && revision <= last {
			t.Errorf("revision %d after %d", revision, last)
		}
		last = revision
		return err
	}
	const entries = 100
	for range entries {
		if err := create(rand.Text()); err != nil {
			t.Fatal(err)
		}
	}
	ask, end := s.Ask()
	defer end()
	if err := ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context(), func() {
		if ask(t.Context()) == nil {
			t.Error("a connection outlived its server")
		}
		if create("late") == nil {
			t.Error("an entry was created without a server")
		}
	}); err != nil {
		t.Fatal(err)
	}
	last = entries
	if err := create("late"); err != nil {
		t.Errorf("an entry of a request that had failed: %v", err)
	}
	if n, err := s.Sweep(t.Context(), "test:"); n != entries+1 || err != nil {
		t.Errorf("swept %d entries, error %v, want %d", n, err, entries+1)
	}
}

// TestUsers checks that a user who may not create a bucket is refused, that the least rights are enough,
// and that a run leaves nothing and removes nothing of others.
func TestUsers(t *testing.T) {
	address := servicetest.NATS(t, server.Options{JetStream: true, Users: []*server.User{
		{Username: "guest", Password: "p", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"$KV.>", "$JS.API.INFO"}}}},
		{Username: "renter", Password: "p", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{"$KV.>", "$JS.API.>"}},
			Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
		}},
		{Username: "owner", Password: "p"},
	}})
	conn, err := natsgo.Connect(address("owner"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, bucket := range []string{"lockbench-1", "orders"} {
		if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: bucket}); err != nil {
			t.Fatal(err)
		}
	}
	for user, may := range map[string]bool{"guest": false, "renter": true} {
		all, err := nats.Backend{}.Open(t.Context(), []string{address(user)}, 1)
		if err != nil {
			t.Fatal(err)
		}
		s := all[0]
		err = s.Check(t.Context(), nil)
		if (err == nil) != may || !may && !strings.Contains(err.Error(), "$JS.API.STREAM.CREATE") {
			t.Errorf("%s: %v", user, err)
		}
		if s.Kind() != design.External || strings.Contains(s.Address(), user) {
			t.Errorf("%s server at %s", s.Kind(), s.Address())
		}
		if !may {
			continue
		}
		records := s.(*nats.Server).Records("lockbench:2:")
		defer records.Close()
		if err := records.Write(t.Context(), "k", lockbench.Record{Value: 1, Version: 2}); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Sweep(t.Context(), "lockbench:"); n != 1 || err != nil {
			t.Errorf("swept %d, error %v", n, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	var left []string
	for name := range js.KeyValueStoreNames(t.Context()).Name() {
		left = append(left, name)
	}
	if len(left) != 2 {
		t.Errorf("left are %v, want the two of others", left)
	}
}

// TestWithoutJetStream checks that a server without JetStream is refused, with the reason.
func TestWithoutJetStream(t *testing.T) {
	s, err := nats.Connect(t.Context(), servicetest.NATS(t, server.Options{Username: "u", Password: "p"})("u"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context(), nil); !errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
		t.Errorf("got %v", err)
	}
}

// TestChild checks that a child ends with its standard input, and that it refuses settings of others.
func TestChild(t *testing.T) {
	address, err := servers.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, settings, says string
	}{
		{"its parent ends", fmt.Sprintf(`{"Name":"n","Address":%q,"Password":"p","Folder":%q}`, address, t.TempDir()), ""},
		{"settings of others", "1", "hint: unset it"},
		{"no port", `{"Address":"127.0.0.1","Password":"p"}`, "missing port"},
	} {
		t.Run(c.name, func(t *testing.T) {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), "LOCKBENCH_NATS_SERVER="+c.settings)
			var said strings.Builder
			child.Stderr = &said
			stdin, err := child.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			if c.says == "" {
				for conn, err := natsgo.Connect("nats://lockbench:p@" + address); ; conn, err = natsgo.Connect("nats://lockbench:p@" + address) {
					if err == nil {
						conn.Close()
						break
					}
				}
				stdin.Close()
			}
			if err := child.Wait(); (err != nil) != (c.says != "") || !strings.Contains(said.String(), c.says) {
				t.Errorf("%v; it said %s", err, said.String())
			}
		})
	}
}

// TestAddresses checks which addresses are taken, and that errors have no password.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"nats://127.0.0.1:1": "refused", "nats://u:secret@127.0.0.1:1": "refused", "nats://": "not an address", "nats://u:secret@h/x": "not an address",
		"nats://u:secret@h?x=secret": "not an address", "nats://u:secret@h:port": "not an address",
	} {
		if _, err := nats.Connect(t.Context(), address); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "hint: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q in it", address, err, want)
		}
	}
	if _, err := (nats.Backend{}).Open(t.Context(), []string{"nats://127.0.0.1:1"}, 2); err == nil || !strings.Contains(err.Error(), "2 servers, 1 given") {
		t.Errorf("one of two addresses: %v", err)
	}
}

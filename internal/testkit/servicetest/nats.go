package servicetest

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// NATS starts a NATS server in this process, which stands for one of a user's and ends with t. It returns its
// address for each user, whose password is p.
func NATS(t *testing.T, options server.Options) func(user string) string {
	t.Helper()
	options.Host, options.Port, options.NoSigs, options.NoLog, options.StoreDir = "127.0.0.1", server.RANDOM_PORT, true, true, t.TempDir()
	s, err := server.NewServer(&options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("it does not start")
	}
	return func(user string) string { return "nats://" + user + ":p@" + s.Addr().String() }
}

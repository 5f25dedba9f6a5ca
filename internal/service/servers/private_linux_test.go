package servers_test

import (
	"net"
	"testing"
	"time"
)

// awaitSilence waits until connections to socket are refused: its server is dead.
func awaitSilence(t *testing.T, socket string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			return
		}
		conn.Close()
	}
	t.Fatalf("the server at %s outlives its parent", socket)
}

package relay

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// piped returns a relay with one connection, and its ends, for a test in virtual time.
func piped(t *testing.T) (r *Relay, client, server net.Conn) { return pipedBy(t, nil, false) }

// pipedBy is piped with a handler, of RESP or of any protocol.
func pipedBy(t *testing.T, h Handler, opaque bool) (r *Relay, client, server net.Conn) {
	t.Helper()
	r = newRelay()
	r.handler, r.opaque = h, opaque
	client, inner := net.Pipe()
	outer, server := net.Pipe()
	r.running.Go(func() { r.forward(inner, outer) })
	t.Cleanup(func() {
		r.Close()
		_, _ = client.Close(), server.Close()
	})
	return r, client, server
}

// send writes text in the background, since a pipe has no buffer.
func send(to io.Writer, text string) {
	go func() { _, _ = io.WriteString(to, text) }()
}

// arrives returns when text has arrived, since now.
func arrives(t *testing.T, from io.Reader, text string) time.Duration {
	t.Helper()
	begun := time.Now()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(from, got); err != nil || string(got) != text {
		t.Fatalf("got %q, error %v; want %q", got, err, text)
	}
	return time.Since(begun)
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, client, server := piped(t)
		send(client, "a")
		if got := arrives(t, server, "a"); got != 0 {
			t.Errorf("without a fault: %v", got)
		}
		end := r.Begin(Fault{Delay: 30 * time.Millisecond})
		for i, text := range []string{"b", "c"} { // the second is not delayed by the first
			send([]io.Writer{client, server}[i], text)
		}
		if got := arrives(t, server, "b"); got != 30*time.Millisecond {
			t.Errorf("to the server: %v", got)
		}
		if got := arrives(t, client, "c"); got != 0 {
			t.Errorf("to the client, at the same time: %v later", got)
		}
		more := r.Begin(Fault{Delay: 20 * time.Millisecond})
		send(client, "d")
		if got := arrives(t, server, "d"); got != 50*time.Millisecond {
			t.Errorf("two delays: %v", got)
		}
		more()
		send(client, "e")
		synctest.Wait()
		end()
		if got := arrives(t, server, "e"); got != 0 {
			t.Errorf("after the end: %v", got)
		}
	})
}

// TestDelayLimitsNoRate checks that much arrives within one delay, in order.
func TestDelayLimitsNoRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, client, server := piped(t)
		defer r.Begin(Fault{Delay: time.Second})()
		text := strings.Repeat("0123456789", 20*readLen/10)
		send(client, text)
		if got := arrives(t, server, text); got != time.Second {
			t.Errorf("%d bytes took %v", len(text), got)
		}
	})
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, client, server := piped(t)
		end := r.Begin(Fault{Rate: 1000})
		text := strings.Repeat("x", 250)
		send(client, text)
		if got := arrives(t, server, text); got != 250*time.Millisecond {
			t.Errorf("250 bytes at 1000 a second: %v", got)
		}
		slower := r.Begin(Fault{Rate: 1})
		send(server, "ab")
		if got := arrives(t, client, "ab"); got != 2*time.Second {
			t.Errorf("2 bytes at 1 a second, the least of two rates: %v", got)
		}
		slower()
		end()
		send(client, text)
		if got := arrives(t, server, text); got != 0 {
			t.Errorf("after the end: %v", got)
		}
	})
}

func TestDiscard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, client, server := piped(t)
		otherClient, inner := net.Pipe()
		outer, otherServer := net.Pipe()
		defer otherClient.Close()
		defer otherServer.Close()
		r.running.Go(func() { r.forward(inner, outer) })
		end, also := r.Begin(Fault{Discard: true}), r.Begin(Fault{Discard: true})
		send(client, "lost")
		synctest.Wait()
		end()
		send(client, "lost, too")
		synctest.Wait()
		also()
		for name, conn := range map[string]net.Conn{"client": client, "server": server} {
			if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("the %s of a connection that lost bytes: read %d bytes, error %v; want its end", name, n, err)
			}
		}
		send(otherClient, "kept")
		arrives(t, otherServer, "kept") // a connection that lost nothing goes on
	})
}

// TestDiscardWhatIsDelayed checks that bytes do not arrive from before a fault that discards them.
func TestDiscardWhatIsDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, client, server := piped(t)
		defer r.Begin(Fault{Delay: time.Second})()
		send(client, "late")
		synctest.Wait()
		end := r.Begin(Fault{Discard: true})
		time.Sleep(time.Minute)
		end()
		if n, err := server.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("read %d bytes, error %v; want the end of the connection", n, err)
		}
	})
}

// TestCloseWhileDelayed checks that nothing waits for bytes that are still to arrive, or for a reader.
func TestCloseWhileDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, client, server := piped(t)
		defer r.Begin(Fault{Delay: time.Hour})()
		send(client, strings.Repeat("x", 2*waitingLen*readLen)) // more than may wait
		synctest.Wait()
		begun := time.Now()
		r.Close()
		r.Close()
		if got := time.Since(begun); got != 0 {
			t.Errorf("closing took %v", got)
		}
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("error %v; want the end of the connection", err)
		}
	})
}

// echo answers each connection with what it receives, until the connection's end.
func echo(t testing.TB) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return listener.Addr().String()
}

// TestSockets sends more than fits into buffers, and then the end of the stream, over real connections
// while the network changes.
func TestSockets(t *testing.T) {
	r, err := Listen(To(echo(t)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			conn, err := net.Dial("tcp", r.Address())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			clients.Go(func() {
				if _, err := conn.Write(text); err != nil {
					t.Error(err)
				}
				if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
					t.Error(err)
				}
			})
			got, err := io.ReadAll(conn)
			if err != nil || !slices.Equal(got, text) {
				t.Errorf("got %d bytes, error %v; want the %d that were sent", len(got), err, len(text))
			}
		})
	}
	for range 50 {
		r.Begin(Fault{Delay: time.Millisecond})()
		r.Begin(Fault{Rate: 10 << 20})()
	}
	clients.Wait()
}

// TestServerIsDown checks that a client learns of a server that cannot be reached.
func TestServerIsDown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	r, err := Listen(To(address), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	conn, err := net.Dial("tcp", r.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("read succeeds; want the end of the connection")
	}
}

// BenchmarkRoundTrip measures a short request and its reply, directly and through a relay.
func BenchmarkRoundTrip(b *testing.B) {
	server := echo(b)
	r, err := Listen(To(server), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for name, address := range map[string]string{"direct": server, "relay": r.Address()} {
		b.Run(name, func(b *testing.B) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			message := make([]byte, 64)
			for b.Loop() {
				if _, err := conn.Write(message); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(conn, message); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

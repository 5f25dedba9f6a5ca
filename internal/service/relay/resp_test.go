package relay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

const (
	get = "*2\r\n$3\r\nget\r\n$1\r\na\r\n"
	set = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\n*1\r\n\r\n"
)

// decide is a Handler that decides by the name of the command, and notes what it was asked about and
// which replies were lost.
type decide struct {
	mu    sync.Mutex
	asked []string
	lost  []string
}

func (d *decide) handle(name string) (bool, func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, name)
	switch name {
	case "CUT":
		return false, nil
	case "LOSE":
		return true, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.lost = append(d.lost, name)
		}
	}
	return true, nil
}

// TestRequests plays a client and a server. What the client sends and the server answers is in turns;
// what arrives is what the other side has read until its connection breaks or the end.
func TestRequests(t *testing.T) {
	one := func(name string) string { return fmt.Sprintf("*1\r\n$%d\r\n%s\r\n", len(name), name) }
	for _, tt := range []struct {
		name               string
		sends, answers     []string
		atServer, atClient string
		asked, lost        string
		brokenByHandler    bool
	}{
		{"replies arrive", []string{get, set}, []string{"$1\r\nb\r\n", "+OK\r\n"}, get + set, "$1\r\nb\r\n+OK\r\n", "[GET SET]", "[]", false},
		{"a request is not sent", []string{get, one("cut"), set}, []string{"$-1\r\n"}, get, "$-1\r\n", "[GET CUT]", "[]", true},
		{"a reply is lost", []string{get, one("lose")}, []string{"$-1\r\n", ":1\r\n"}, get + one("lose"), "$-1\r\n", "[GET LOSE]", "[LOSE]", true},
		{"the second reply of a pipeline is lost", []string{get + one("lose") + set}, []string{"*-1\r\n*1\r\n:1\r\n+OK\r\n"}, get + one("lose") + set, "*-1\r\n", "[GET LOSE SET]", "[LOSE]", true},
		{"pushes are no replies", []string{one("lose")}, []string{">2\r\n+invalidate\r\n*1\r\n$1\r\na\r\n", ":1\r\n"}, one("lose"), ">2\r\n+invalidate\r\n*1\r\n$1\r\na\r\n", "[LOSE]", "[LOSE]", true},
		{"attributes belong to a reply", []string{get, one("lose")}, []string{"|1\r\n+ttl\r\n:3\r\n$1\r\nb\r\n", ":1\r\n"}, get + one("lose"), "|1\r\n+ttl\r\n:3\r\n$1\r\nb\r\n", "[GET LOSE]", "[LOSE]", true},
		{"subscribers are let alone", []string{one("subscribe"), one("lose")}, []string{"*1\r\n:1\r\n", "+OK\r\n"}, one("subscribe") + one("lose"), "*1\r\n:1\r\n+OK\r\n", "[]", "[]", false},
		{"TLS", []string{"\x16\x03\x01\x00*1\r\n"}, []string{"\x16\x03\x03$x\r\n"}, "\x16\x03\x01\x00*1\r\n", "\x16\x03\x03$x\r\n", "[]", "[]", false},
		{"something else in between", []string{get, "PING\r\n", one("lose")}, []string{"$-1\r\n", "+PONG\r\n", ":1\r\n"}, get + "PING\r\n" + one("lose"), "$-1\r\n+PONG\r\n:1\r\n", "[GET]", "[]", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &decide{}
				r, client, server := pipedBy(t, d.handle, false)
				atClient, atServer := collect(client), collect(server)
				for i := range max(len(tt.sends), len(tt.answers)) {
					for _, turn := range []struct {
						by    net.Conn
						texts []string
					}{{client, tt.sends}, {server, tt.answers}} {
						if i < len(turn.texts) {
							send(turn.by, turn.texts[i])
						}
						synctest.Wait()
					}
				}
				if broken := r.Connections() == 0; broken != tt.brokenByHandler {
					t.Errorf("the connection broke: %v, want %v", broken, tt.brokenByHandler)
				}
				r.Close()
				if got := <-atServer; got != tt.atServer {
					t.Errorf("at the server: %q, want %q", got, tt.atServer)
				}
				if got := <-atClient; got != tt.atClient {
					t.Errorf("at the client: %q, want %q", got, tt.atClient)
				}
				if asked, lost := fmt.Sprint(d.asked), fmt.Sprint(d.lost); asked != tt.asked || lost != tt.lost {
					t.Errorf("asked %s, lost %s; want %s and %s", asked, lost, tt.asked, tt.lost)
				}
			})
		})
	}
}

// collect returns what a connection received when it is over.
func collect(from net.Conn) <-chan string {
	all := make(chan string, 1)
	go func() {
		got, _ := io.ReadAll(from) // an error is its end, too
		all <- string(got)
	}()
	return all
}

// TestMessages reads random values of RESP, in pieces of one byte or whole, and gets each as it was.
func TestMessages(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		var want []string
		for range 20 {
			want = append(want, value(random, 3))
		}
		whole := strings.Join(want, "")
		for _, from := range []io.Reader{strings.NewReader(whole), iotest.OneByteReader(strings.NewReader(whole)), iotest.DataErrReader(strings.NewReader(whole))} {
			m := NewMessages(from)
			var got []string
			for {
				one, err := m.Next()
				if len(one) > 0 {
					got = append(got, string(one))
				}
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Fatalf("seed %d: %v", seed, err)
					}
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: got %q, want %q", seed, got, want)
			}
		}
	}
}

// value returns a random value of RESP, of at most so many levels.
func value(random *rand.Rand, levels int) string {
	text := func() string { return strings.Repeat("\r\n*x", random.IntN(5)) }
	simple := []string{"+OK\r\n", "-ERR no\r\n", ":-3\r\n", ",1.5\r\n", "_\r\n", "#t\r\n", "(123\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n"}
	kinds := []string{"$", "!", "="}
	if levels > 0 {
		kinds = append(kinds, "*", "~", ">", "%", "|")
	}
	i := random.IntN(len(simple) + len(kinds))
	if i < len(simple) {
		return simple[i]
	}
	kind, n := kinds[i-len(simple)], random.IntN(4)
	values := map[string]int{"*": n, "~": n, ">": n, "%": 2 * n, "|": 2*n + 1}
	count, nested := values[kind]
	if !nested {
		s := text()
		return fmt.Sprintf("%s%d\r\n%s\r\n", kind, len(s), s)
	}
	all := fmt.Sprintf("%s%d\r\n", kind, n)
	for range count {
		all += value(random, levels-1)
	}
	return all
}

// FuzzMessages reads anything, and loses nothing of it.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(get + set + "|1\r\n+a\r\n:1\r\n$5\r\nab"))
	f.Add([]byte("*2\r\n$99999999999\r\nab"))
	f.Fuzz(func(t *testing.T, all []byte) {
		m := NewMessages(bytes.NewReader(all))
		var got []byte
		for {
			one, err := m.Next()
			got = append(got, one...)
			if err != nil {
				break
			}
		}
		if !bytes.Equal(got, all) {
			t.Errorf("got %q of %q", got, all)
		}
	})
}

package replylimit

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestTake(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	cases := map[string]struct {
		reply string
		times int
		want  string // in the error; empty is none
	}{
		"small":                            {"+OK\r\n:12\r\n$3\r\nfoo\r\n*2\r\n$1\r\na\r\n*-1\r\n$-1\r\n-ERR no\r\n", 1000, ""},
		"third version":                    {"%1\r\n+a\r\n:1\r\n~1\r\n#t\r\n>2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n|1\r\n+ttl\r\n:3\r\n,1.5\r\n_\r\n=7\r\ntxt:abc\r\n(1\r\n!3\r\nERR\r\n", 1000, ""},
		"many of some size":                {"$1048576\r\n" + long + "\r\n", 100, ""},
		"a list of a billion":              {"*1000000000\r\n", 1, "1000000000 elements"},
		"a map of many":                    {"%600000\r\n", 1, "1200000 elements"},
		"a number that goes over":          {"%9223372036854775807\r\n", 1, "elements"},
		"lists in lists":                   {"*1\r\n", 140_000, "elements"},
		"a list of lists, each by itself":  {"*2\r\n*1\r\n:1\r\n*1\r\n:2\r\n", 1 << 17, ""},
		"a string of a gigabyte":           {"$1000000000\r\n", 1, "more than 67108864 bytes"},
		"a string whose length goes over":  {"$9223372036854775807\r\n", 1, "more than 67108864 bytes"},
		"strings in a list":                {"*1000\r\n" + strings.Repeat("$1048576\r\n"+long+"\r\n", 65), 1, "bytes"},
		"an endless line":                  {"+" + long + long, 1, "a line of a reply"},
		"another protocol":                 {"HTTP/1.1 400 Bad Request\r\n\r\nno\r\n", 1, ""},
		"another protocol, without an end": {"HTTP/1.1 200 OK\r\n\r\n" + long, 70, "bytes"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, 4096, 1 << 21} {
				if size < 4096 && len(c.reply)*c.times > 1<<16 {
					continue
				}
				got := taken(c.reply, c.times, size)
				if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
					t.Errorf("in parts of %d: got %q, want %q", size, got, c.want)
				}
			}
		})
	}
}

// taken returns the error of the first part that is too much.
func taken(reply string, times, size int) string {
	var l Limit
	for range times {
		for rest := reply; rest != ""; {
			n := min(size, len(rest))
			if err := l.Take([]byte(rest[:n])); err != nil {
				return err.Error()
			}
			rest = rest[n:]
		}
	}
	return ""
}

func TestConnShowsASocketOnlyIfThereIsOne(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	pipe, other := net.Pipe()
	defer pipe.Close()
	defer other.Close()
	for _, c := range []struct {
		name string
		conn net.Conn
		want bool
	}{{"socket", socket, true}, {"pipe", pipe, false}} {
		if _, shown := Conn(c.conn).(syscall.Conn); shown != c.want {
			t.Errorf("%s: a socket is shown: %v, want %v", c.name, shown, c.want)
		}
	}
}

// TestWriteQuotesTheLastRefusal: a server says why it hangs up, and its words are read or not before
// the next write fails. An older refusal is not the reason.
func TestWriteQuotesTheLastRefusal(t *testing.T) {
	const full = "ERR max number of clients reached"
	for _, c := range []struct {
		name, says string
		read       bool
		want       bool
	}{
		{"unread", "-" + full + "\r\n", false, true},
		{"read", "-" + full + "\r\n", true, true},
		{"of an earlier command", "-" + full + "\r\n+OK\r\n", true, false},
		{"nothing", "", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			socket, err := net.Dial("unix", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer socket.Close()
			server, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			conn := Conn(socket)
			for part := range strings.SplitAfterSeq(c.says, "\r\n") {
				if _, err := server.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
				if c.read && part != "" {
					if _, err := io.ReadFull(conn, make([]byte, len(part))); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := server.Close(); err != nil {
				t.Fatal(err)
			}
			_, err = conn.Write([]byte("PING\r\n"))
			if !errors.Is(err, syscall.EPIPE) || strings.Contains(err.Error(), full) != c.want {
				t.Errorf("got %v, want a broken pipe, with the refusal: %t", err, c.want)
			}
		})
	}
}

func BenchmarkTake(b *testing.B) {
	var l Limit
	reply := []byte(":1\r\n")
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Take(reply); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzTake checks that the way a reply is split into parts makes no difference.
func FuzzTake(f *testing.F) {
	f.Add("*2\r\n$1\r\na\r\n:1\r\n", 1)
	f.Add("*1000000000\r\n", 3)
	f.Fuzz(func(t *testing.T, reply string, size int) {
		whole, parts := taken(reply, 1, max(1, len(reply))), taken(reply, 1, 1+(size&0xff))
		if (whole == "") != (parts == "") {
			t.Errorf("%q: whole %q, in parts of %d %q", reply, whole, 1+(size&0xff), parts)
		}
	})
}

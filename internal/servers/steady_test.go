package servers

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// told is a connection that notes the deadlines it is told, and answers.
type told struct {
	net.Conn
	at []time.Time
}

func (c *told) SetReadDeadline(t time.Time) error {
	c.at = append(c.at, t)
	return nil
}
func (c *told) SetWriteDeadline(time.Time) error { return nil }
func (c *told) Read(b []byte) (int, error)       { return len(b), nil }

func TestDeadlinesAreToldWhereTheyMatter(t *testing.T) {
	start, never := time.Now().Add(time.Hour), time.Time{}
	const slack = time.Second
	tests := []struct {
		name string
		set  []time.Duration // since start; negative: taken back
		want []time.Time
	}{
		{"the first", []time.Duration{0}, []time.Time{start}},
		{"a little later", []time.Duration{0, slack - 1}, []time.Time{start}},
		{"later, in little steps", []time.Duration{0, slack - 1, slack}, []time.Time{start, start.Add(slack)}},
		{"earlier", []time.Duration{1, 0}, []time.Time{start.Add(1), start}},
		{"taken back", []time.Duration{0, -1}, []time.Time{start, never}},
		{"taken back and set again", []time.Duration{0, -1, 1}, []time.Time{start}},
		{"taken back, set much later", []time.Duration{0, -1, slack}, []time.Time{start, start.Add(slack)}},
		{"none, taken back", []time.Duration{-1}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inner := &told{}
			c := &steadyConn{Conn: inner, slack: slack}
			for _, d := range tt.set {
				at := start.Add(d)
				if d < 0 {
					at = never
				}
				if err := c.SetDeadline(at); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.Read(nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(inner.at, tt.want); diff != "" {
				t.Errorf("read deadlines that the connection was told (-got +want):\n%s", diff)
			}
		})
	}
}

// TestShortDeadlinesAreNotCutShort: those of contexts may be much nearer than those
// that slack was made for.
func TestShortDeadlinesAreNotCutShort(t *testing.T) {
	inner := &told{}
	c := &steadyConn{Conn: inner, slack: time.Minute}
	first := time.Now().Add(100 * time.Millisecond)
	want := []time.Time{first, first.Add(50 * time.Millisecond)}
	for _, at := range want {
		if err := c.SetReadDeadline(at); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(inner.at, want); diff != "" {
		t.Errorf("deadlines that the connection was told (-got +want):\n%s", diff)
	}
}

// connected returns both ends of a connection, ours steady.
func connected(t *testing.T) (ours *steadyConn, theirs net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if theirs, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	return steady(conn, time.Minute).(*steadyConn), theirs
}

func TestADeadlinePassesAndIsOver(t *testing.T) {
	ours, theirs := connected(t)
	b := make([]byte, 1)
	_ = ours.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, err := ours.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("Read returned %v, want its deadline's error", err)
	}
	for _, next := range []time.Time{time.Now().Add(time.Hour), {}} {
		if _, err := theirs.Write(b); err != nil {
			t.Fatal(err)
		}
		_ = ours.SetDeadline(next)
		if _, err := ours.Read(b); err != nil {
			t.Errorf("Read with deadline %v: %v, want what was sent", next, err)
		}
	}
}

// TestWholeAfterAnAnswer looks at a connection as go-redis does before a command.
func TestWholeAfterAnAnswer(t *testing.T) {
	ours, theirs := connected(t)
	if _, err := theirs.Write(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		ago  time.Duration
		want bool
	}{{"right after an answer", 0, false}, {"an hour after it", time.Hour, true}} {
		t.Run(tt.name, func(t *testing.T) {
			_ = ours.SetReadDeadline(time.Now().Add(-time.Second)) // over, and to be taken back
			_ = ours.SetDeadline(time.Time{})
			ours.opened = time.Now().Add(-tt.ago)
			ours.answered.Store(1)
			looked := false
			raw, _ := ours.SyscallConn()
			if err := raw.Read(func(uintptr) bool { looked = true; return true }); err != nil || looked != tt.want {
				t.Errorf("looked at: %v, error %v; want %v", looked, err, tt.want)
			}
		})
	}
}

func TestHiddenSocketsStayHidden(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	defer ours.Close()
	if _, shown := steady(ours, time.Second).(syscall.Conn); shown {
		t.Error("a connection that hides its socket shows one")
	}
}

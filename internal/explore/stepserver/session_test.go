package stepserver_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
	"github.com/lockbench/lockbench/internal/explore/stepserver/script"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

var update = flag.Bool("update", false, "write the replies of a real server into testdata")

// A session is commands and the replies that a real Redis gives.
type session struct{ lines []line }

// A line is a command and its reply; kind '!' is a known difference, '~' one of
// which only the beginning is compared, '#' a comment.
type line struct {
	kind        byte
	text, reply string
}

// A speaker is a connection to a server.
type speaker interface {
	say(args []string) (reply string, err error)
}

func TestSessions(t *testing.T) {
	for name, s := range sessions(t) {
		t.Run(name, func(t *testing.T) { s.run(t, embedded(t)) })
	}
}

// TestSessionsAreReal shows that the recorded replies are a real server's.
func TestSessionsAreReal(t *testing.T) {
	server := servertest.Start(t)
	for name, s := range sessions(t) {
		t.Run(name, func(t *testing.T) {
			c := dialReal(t, server)
			c.say([]string{"flushall"})
			c.say([]string{"script", "flush"})
			if *update {
				s.record(t, name, c)
				return
			}
			for i := range s.lines {
				if s.lines[i].kind == '!' {
					s.lines[i].kind = '>'
				}
			}
			s.run(t, c)
		})
	}
}

func sessions(t *testing.T) map[string]*session {
	t.Helper()
	files, err := filepath.Glob("testdata/sessions/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	all := map[string]*session{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		s := &session{}
		for text := range strings.Lines(string(data)) {
			s.add(strings.TrimSuffix(text, "\n"))
		}
		all[f] = s
	}
	return all
}

func (s *session) add(text string) {
	if reply, ok := strings.CutPrefix(text, "< "); ok {
		s.lines[len(s.lines)-1].reply, _ = strconv.Unquote(reply)
		return
	}
	kind := byte('#')
	if text != "" && strings.IndexByte(">!~", text[0]) >= 0 {
		kind, text = text[0], text[2:]
	}
	s.lines = append(s.lines, line{kind: kind, text: text})
}

func (s *session) run(t *testing.T, to speaker) {
	t.Helper()
	for _, l := range s.lines {
		if l.kind == '#' {
			continue
		}
		reply, err := to.say(words(t, l.text))
		if err != nil {
			t.Fatalf("%s: %v", l.text, err)
		}
		switch l.kind {
		case '!':
			if reply == l.reply {
				t.Errorf("%s\nis listed as a difference, but there is none", l.text)
			}
			continue
		case '~':
			reply, l.reply = kindOf(reply), kindOf(l.reply)
		}
		if diff := cmp.Diff(reply, l.reply); diff != "" {
			t.Errorf("%s\nreply (-got +want):\n%s", l.text, diff)
		}
	}
}

// kindOf is an error's code and place.
func kindOf(reply string) string {
	fields := strings.Fields(reply)
	return strings.Join(fields[:min(2, len(fields))], " ")
}

// record writes the session anew with the replies of a real server.
func (s *session) record(t *testing.T, file string, from speaker) {
	var b bytes.Buffer
	for _, l := range s.lines {
		if l.kind == '#' {
			fmt.Fprintln(&b, l.text)
			continue
		}
		reply, err := from.say(words(t, l.text))
		if err != nil {
			t.Fatalf("%s: %v", l.text, err)
		}
		fmt.Fprintf(&b, "%c %s\n< %q\n", l.kind, l.text, reply)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// words splits a command at blanks; those in quotes are as in Go.
func words(t *testing.T, text string) (args []string) {
	t.Helper()
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if text[0] != '"' {
			word, rest, _ := strings.Cut(text, " ")
			args, text = append(args, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		word, _ := strconv.Unquote(quoted)
		args, text = append(args, word), text[len(quoted):]
	}
	return args
}

// embeddedSpeaker runs each command at once.
type embeddedSpeaker struct {
	server *stepserver.Server
	raw
}

func embedded(t *testing.T) embeddedSpeaker {
	t.Helper()
	s, err := stepserver.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c, err := s.Dial(1)
	if err != nil {
		t.Fatal(err)
	}
	return embeddedSpeaker{s, raw{c, bufio.NewReader(c)}}
}

func (e embeddedSpeaker) say(args []string) (string, error) {
	if err := e.send(args); err != nil {
		return "", err
	}
	for _, c := range slices.Clone(e.server.Pending()) {
		e.server.Run(c)
	}
	return e.reply()
}

func dialReal(t *testing.T, s *servers.Server) raw {
	t.Helper()
	c, err := net.Dial(s.Options().Network, s.Options().Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return raw{c, bufio.NewReader(c)}
}

// raw speaks RESP and returns replies as they are.
type raw struct {
	conn net.Conn
	r    *bufio.Reader
}

func (c raw) say(args []string) (string, error) {
	if err := c.send(args); err != nil {
		return "", err
	}
	return c.reply()
}

func (c raw) send(args []string) error {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	_, err := c.conn.Write(b)
	return err
}

func (c raw) reply() (string, error) {
	head, err := c.r.ReadString('\n')
	if err != nil {
		return "", err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(head[1:]))
	switch {
	case head[0] == '$' && n >= 0:
		body := make([]byte, n+2)
		_, err := io.ReadFull(c.r, body)
		return head + string(body), err
	case head[0] == '*':
		for range n {
			item, err := c.reply()
			if err != nil {
				return "", err
			}
			head += item
		}
	}
	return head, nil
}

// sha is the name of a script in EVALSHA.
func sha(source string) string { return script.SHA(source) }

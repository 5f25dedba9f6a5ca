package stepserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequests(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     [][]string
		rest     string
		err      bool
	}{
		{"one", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", [][]string{{"GET", "k"}}, "", false},
		{"two and a half", "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPI", [][]string{{"PING"}, {"PING"}}, "*1\r\n$4\r\nPI", false},
		{"any bytes", "*1\r\n$4\r\n\r\n\x00\xff\r\n", [][]string{{"\r\n\x00\xff"}}, "", false},
		{"empty string", "*2\r\n$3\r\nGET\r\n$0\r\n\r\n", [][]string{{"GET", ""}}, "", false},
		{"inline", "PING  x\r\n", [][]string{{"PING", "x"}}, "", false},
		{"nothing", "*0\r\n\r\n*-1\r\n*1\r\n$4\r\nPING\r\n", [][]string{{"PING"}}, "", false},
		{"no length", "*x\r\n", nil, "", true},
		{"too long", "*1048577\r\n", nil, "", true},
		{"no bulk string", "*1\r\n:1\r\n", nil, "", true},
		{"nil", "*1\r\n$-1\r\n", nil, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, rest, err := parseAll(c.in, len(c.in))
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("commands (-got +want):\n%s", diff)
			}
			if (err != nil) != c.err || err == nil && rest != c.rest {
				t.Errorf("got rest %q, %v, want %q, error %v", rest, err, c.rest, c.err)
			}
		})
	}
}

// parseAll feeds text in pieces of some size.
func parseAll(text string, size int) (commands [][]string, rest string, err error) {
	var r requests
	for piece := range slices.Chunk([]byte(text), max(size, 1)) {
		r.add(piece)
		for {
			args, err := r.next()
			if err != nil {
				return commands, r.rest, err
			}
			if args == nil {
				break
			}
			commands = append(commands, args)
		}
	}
	return commands, r.rest, nil
}

// FuzzRequests: requests in pieces are parsed like whole ones, and a command
// written again is the same command.
func FuzzRequests(f *testing.F) {
	f.Add("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n", 3)
	f.Add("PING\r\n*0\r\n*1\r\n$0\r\n\r\n", 1)
	f.Add("*1\r\n$4\r\nPI", 2)
	f.Fuzz(func(t *testing.T, text string, size int) {
		whole, _, err := parseAll(text, len(text))
		pieces, _, errPieces := parseAll(text, size)
		if diff := cmp.Diff(pieces, whole); diff != "" || (err != nil) != (errPieces != nil) {
			t.Errorf("in pieces of %d: %v, at once: %v (-pieces +whole):\n%s", size, errPieces, err, diff)
		}
		var b strings.Builder
		for _, args := range whole {
			fmt.Fprintf(&b, "*%d\r\n", len(args))
			for _, a := range args {
				fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
			}
		}
		again, rest, err := parseAll(b.String(), b.Len())
		if diff := cmp.Diff(again, whole); diff != "" || rest != "" || err != nil {
			t.Errorf("written again: %v, rest %q (-again +first):\n%s", err, rest, diff)
		}
	})
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"*", "a/b", true},
		{"a*c", "abbc", true}, {"a*c", "abcd", false}, {"a**c*", "acd", true}, {"?", "", false}, {"?b", "ab", true},
		{"[ab]c", "bc", true}, {"[ab]c", "cc", false}, {"[^ab]c", "cc", true}, {"[a-c]", "b", true}, {"[c-a]", "b", true}, {"[a-c]", "d", false},
		{`\*`, "*", true}, {`\*`, "a", false}, {`[\]]`, "]", true}, {"[a", "a", true}, {"[]a", "a", false}, {`\`, `\`, true},
	} {
		t.Run(c.pattern+" "+c.name, func(t *testing.T) {
			if got := glob(c.pattern, c.name); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestKeysOf finds the keys of commands that have them in odd places.
func TestKeysOf(t *testing.T) {
	for _, c := range []struct {
		command string
		keys    []string
		written int
	}{
		{"GET k", []string{"k"}, 0},
		{"set k v", []string{"k"}, 1},
		{"Set k v", []string{"k"}, 1},
		{"MSET a 1 b 2", []string{"a", "b"}, 2},
		{"BITOP and dst a b", []string{"dst", "a", "b"}, 1},
		{"ZUNIONSTORE dst 2 a b weights 1 2", []string{"dst", "a", "b"}, 1},
		{"ZUNIONSTORE dst 9 a b", nil, 0},
		{"ZINTER 2 a b", []string{"a", "b"}, 0},
		{"BZMPOP 0 2 a b min", []string{"a", "b"}, 2},
		{"LMPOP 2 a b left", []string{"a", "b"}, 2},
		{"BLPOP a b 0", []string{"a", "b"}, 2},
		{"XREAD count 1 streams a b 0 0", []string{"a", "b"}, 0},
		{"XREADGROUP group g c streams a >", []string{"a"}, 1},
		{"COPY a b", []string{"b", "a"}, 1},
		{"COPY a b db 1", []string{Everything}, 1},
		{"OBJECT encoding k", []string{"k"}, 0},
		{"FLUSHALL", []string{Everything}, 1},
		{"NOSUCH a b", []string{Everything}, 1},
		{"GET", []string{}, 0},
		{"BLPOP", []string{}, 0},
	} {
		t.Run(c.command, func(t *testing.T) {
			args := strings.Fields(c.command)
			s := specOf(args)
			keys := s.keys(args)
			written := s.dest
			if written < 0 {
				written = len(keys)
			}
			if diff := cmp.Diff(keys, c.keys); diff != "" || min(written, len(keys)) != c.written {
				t.Errorf("got %d written, want %d; keys (-got +want):\n%s", written, c.written, diff)
			}
		})
	}
}

// TestEveryCommandIsKnown: miniredis has no command that the table lacks, nor the
// table one that miniredis lacks.
func TestEveryCommandIsKnown(t *testing.T) {
	s, err := newStore()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for name := range specs {
		if !s.server.IsRegisteredCommand(name) {
			t.Errorf("%s is in the table, but miniredis does not know it", name)
		}
	}
	reply := string(s.do(s.own, []string{"COMMAND"}))
	for name := range strings.FieldsSeq(reply) {
		if _, known := specs[name]; !known && s.server.IsRegisteredCommand(name) {
			t.Errorf("miniredis knows %s, but it is not in the table", name)
		}
	}
}

package wrap

import (
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		text        string
		width, hang int
		want        string
	}{
		{"one two", 0, 2, "one two"},
		{"one two", 7, 2, "one two"},
		{"one two three", 7, 2, "one two|  three"},
		{"one --fail-if-slower three", 8, 1, "one| --fail-if-slower| three"},
		{"one two", 3, 3, "one|  two"},
		{"\x1b[1mone\x1b[0m two three", 7, 0, "\x1b[1mone\x1b[0m two|three"},
	} {
		if got := strings.Join(Lines(c.text, c.width, c.hang), "|"); got != c.want {
			t.Errorf("%q in %d columns: got %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestParagraphs(t *testing.T) {
	got := Paragraphs("one two\nthree\n\n  a   b   c   d\n\nfour", 9)
	if want := "one two\nthree\n\n  a   b   c   d\n\nfour"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Paragraphs("one\ntwo three", 8); got != "one two\nthree" {
		t.Errorf("got %q", got)
	}
}

func TestFit(t *testing.T) {
	text := "on each of the 2 machines:\n  lockbench agent nats://127.0.0.1:4222 --token abc"
	for width, want := range map[int]string{
		0:  text,
		60: text,
		40: "on each of the 2 machines:\n  lockbench agent \\\n    nats://127.0.0.1:4222 --token abc",
		20: "on each of the 2\n  machines:\n  lockbench agent \\\n    nats://127.0.0.1:4222 \\\n    --token abc",
	} {
		if got := fit(text, width); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, got, want)
		}
	}
}

func TestCommand(t *testing.T) {
	for line, want := range map[string]string{
		"a b c":                           "a b c",
		"lockbench run --keys 1 --ttl 2s": `lockbench run --keys \|  1 --ttl 2s`,
		`run --adapter 'a b  c' --ttl 2s`: `run --adapter \|  'a b  c' --ttl 2s`,
		`run --adapter 'it'\''s a' b 2s`:  `run --adapter \|  'it'\''s a' b 2s`,
	} {
		if got := strings.Join(Command(line, 22, 2), "|"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

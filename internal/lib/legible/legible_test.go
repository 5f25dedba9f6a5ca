package legible

import (
	"slices"
	"testing"
)

func TestText(t *testing.T) {
	for from, want := range map[string]string{
		"plain, ünïcode, 锁\tand\nlines": "plain, ünïcode, 锁\tand\nlines",
		"\x1b]0;title\a":                "\uFFFD]0;title\uFFFD",
		"a\u202eb\u2066c\u200f":         "a\uFFFDb\uFFFDc\uFFFD",
		"\u009b31m\x7f":                 "\uFFFD31m\uFFFD",
		"\xff":                          "\uFFFD",
		"back\rto the start":            "back\uFFFDto the start",
	} {
		if got := Text(from); got != want {
			t.Errorf("Text(%q) = %q, want %q", from, got, want)
		}
	}
}

func TestAll(t *testing.T) {
	type leaf struct {
		Text  string
		Facts []string
	}
	mine := []string{"fine", "\x1b[2J"}
	all := &struct {
		Name   string
		Leaves []leaf
		Deep   *[1]leaf
		Raw    any
		hidden string
	}{Name: "\x1b", Leaves: []leaf{{Text: "\a", Facts: mine}}, Deep: &[1]leaf{{Text: "\b"}}, Raw: &leaf{Text: "\x1b"}, hidden: "\x1b"}
	All(all)
	if all.Name != "\uFFFD" || all.Leaves[0].Text != "\uFFFD" || all.Deep[0].Text != "\uFFFD" || !slices.Equal(all.Leaves[0].Facts, []string{"fine", "\uFFFD[2J"}) {
		t.Errorf("got %+v, want all text legible", all)
	}
	if mine[1] != "\x1b[2J" || all.hidden != "\x1b" || all.Raw.(*leaf).Text != "\x1b" {
		t.Errorf("got %q, %+v: what is the caller's own was changed", mine, all)
	}
}

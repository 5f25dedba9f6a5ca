package html

import (
	"testing"

	"github.com/lockbench/lockbench/reports/internal/document"
)

func TestTone(t *testing.T) {
	for tone, want := range map[document.Tone]string{document.Good: "good ✓", document.Bad: "bad ✗", document.Weak: "open ?"} {
		if got := marks[tone] + " " + signs[tone]; got != want {
			t.Errorf("tone %v: got %s, want %s", tone, got, want)
		}
	}
}

func TestCapital(t *testing.T) {
	for text, want := range map[string]string{"every claim": "Every claim", "": "", "é so": "É so"} {
		if got := capital(text); got != want {
			t.Errorf("capital(%q): got %q, want %q", text, got, want)
		}
	}
}

// TestScale checks that events keep their order, and that distinct ones are
// apart.
func TestScale(t *testing.T) {
	p := &document.Timeline{Lanes: []document.Lane{{Bars: []document.Bar{{From: 100, To: 1_000_000_100}}, Marks: []document.Mark{{At: 200, To: 1_000_000_100}}}}}
	s := newScale(p)
	if s.place(100) != 0 || s.place(1_000_000_100) != s.width() || s.place(5_000_000_000) != s.width() {
		t.Errorf("the ends are at %v and %v, want 0 and %v", s.place(100), s.place(1_000_000_100), s.width())
	}
	last := -1.0
	for _, at := range []int64{100, 200, 500_000_000, 1_000_000_100} {
		if got := s.place(at); got <= last {
			t.Errorf("%d is at %v, not after what came before it at %v", at, got, last)
		} else {
			last = got
		}
	}
	if short := s.place(200); short < s.width()/20 {
		t.Errorf("a hundred ns beside a second get %v of %v", short, s.width())
	}
	steps := newScale(&document.Timeline{Steps: true, Lanes: []document.Lane{{Marks: []document.Mark{{At: 0, To: 0}, {At: 3, To: 3}}}}})
	if steps.place(3) != 3 || steps.width() != 4 {
		t.Errorf("step 4 is at %v of %v, want 3 of 4", steps.place(3), steps.width())
	}
}

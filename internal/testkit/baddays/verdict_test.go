//go:build linux

package baddays

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestVerdict: each thing that must not happen fails the campaign, and so does a row that tried nothing.
func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*row)
		fails bool
	}{
		"well":           {func(*row) {}, false},
		"nothing tried":  {func(r *row) { r.tries = 0 }, true},
		"passed":         {func(r *row) { r.note(&r.passed, "x") }, true},
		"accused":        {func(r *row) { r.note(&r.accused, "x") }, true},
		"lost":           {func(r *row) { r.note(&r.lost, "x") }, true},
		"left":           {func(r *row) { r.note(&r.left, "x") }, true},
		"hung":           {func(r *row) { r.count(trial{}, outcome{hung: true}) }, true},
		"panic":          {func(r *row) { r.count(trial{}, outcome{exit: 2, out: "panic: no\n\ngoroutine 1 [running]"}) }, true},
		"much memory":    {func(r *row) { r.count(trial{}, outcome{memory: mostMemory + 1}) }, true},
		"an exit code 1": {func(r *row) { r.count(trial{}, outcome{exit: 1}) }, false}, // which the parts look at
	} {
		var all table
		r := all.row("part")
		r.tries = 1
		c.spoil(r)
		if err := all.verdict(); (err != nil) != c.fails {
			t.Errorf("%s: got %v", name, err)
		}
		if text := all.String(); strings.Count(text, "\n") < 3 {
			t.Errorf("%s: the table lacks lines:\n%s", name, text)
		}
	}
	if new(table).verdict() == nil {
		t.Error("no row: got no error")
	}
}

// TestMutate: mutate mostly returns another text, and leaves its argument unchanged.
func TestMutate(t *testing.T) {
	b := bench{rand: rand.New(rand.NewPCG(1, 1))}
	text := []byte(`{"schema":"x","runs":[{"grants":100,"exit":0}]}`)
	same, before := 0, bytes.Clone(text)
	for range 1000 {
		if bytes.Equal(b.mutate(text), text) {
			same++
		}
	}
	if same > 50 || !bytes.Equal(text, before) {
		t.Errorf("%d of 1,000 the same; the text is %s", same, text)
	}
}

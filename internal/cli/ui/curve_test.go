package ui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/measure/series"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{
		{-1, "╌╌╌╌"}, {0, "╌╌╌╌"}, {0.5, "━━╌╌"}, {0.99, "━━━╌"}, {1, "━━━━"}, {7, "━━━━"},
	} {
		if diff := cmp.Diff(bar(c.share, 4), c.want); diff != "" {
			t.Errorf("%v (-got +want):\n%s", c.share, diff)
		}
	}
}

func TestSpark(t *testing.T) {
	var late series.Counts
	late.Add(1900*int64(time.Millisecond), 10)
	for _, c := range []struct {
		name  string
		curve series.Counts
		until time.Duration
		cells int
		want  string
	}{
		{"nothing yet", series.Counts{}, time.Second, 20, ""},
		{"a cell that is not over", rising(), 300 * time.Millisecond, 20, ""},
		{"room for all", rising(), 2900 * time.Millisecond, 20, "▃▃▃▅▆▆▇██"},
		{"no room for all: neighbours together", rising(), 2900 * time.Millisecond, 5, "▃▅▆█"},
		{"no room", rising(), 2900 * time.Millisecond, -3, ""},
		{"quiet at first, and at last", late, 3 * time.Second, 20, "▁▁▁▁▁█▁▁▁"},
		{"quiet", series.Counts{Width: series.Narrowest}, time.Second, 20, "▁▁▁"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(spark(c.curve, c.until, c.cells), c.want); diff != "" {
				t.Errorf("curve (-got +want):\n%s", diff)
			}
		})
	}
}

func TestPace(t *testing.T) {
	for _, c := range []struct {
		name      string
		run       Run
		now, mean float64
	}{
		{"before it began", Run{}, 0, 0},
		{"too early to tell apart", Run{Grants: 50, Elapsed: 500 * time.Millisecond, Rate: rising()}, 100, 100},
		{"rising", Run{Grants: 1800, Elapsed: 3 * time.Second, Rate: rising()}, 834.375, 600},
		{"over", Run{Grants: 1800, Elapsed: 9 * time.Second, Length: 3 * time.Second, Rate: rising()}, 834.375, 600},
		{"stopped", Run{Grants: 1800, Elapsed: 9 * time.Second, Rate: rising()}, 0, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			now, mean := pace(&c.run)
			if now != c.now || mean != c.mean {
				t.Errorf("got %v now and %v mean, want %v and %v", now, mean, c.now, c.mean)
			}
		})
	}
}

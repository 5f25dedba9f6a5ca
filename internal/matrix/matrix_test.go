package matrix

import (
	"testing"
	"time"
)

func TestFitting(t *testing.T) {
	for _, c := range []struct {
		budget  time.Duration
		designs int
		want    int
	}{
		{time.Second, 2, 0},
		{10 * time.Second, 2, 0},
		{12 * time.Second, 2, 1},
		{5 * time.Minute, 20, 2},
		{6 * time.Minute, 20, 3},
		{8 * time.Minute, 20, 4},
		{10 * time.Minute, 20, 5},
		{time.Hour, 2, 5},
	} {
		s := Settings{Budget: c.budget, Length: 3600 * time.Millisecond}
		if got := s.fitting(c.designs); got != c.want {
			t.Errorf("%v for %d designs: got %d parts, want %d", c.budget, c.designs, got, c.want)
		}
	}
}

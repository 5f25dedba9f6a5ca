package processor

import (
	"testing"
	"time"
)

func TestIdleIsTheSumOfAllProcessors(t *testing.T) {
	for _, c := range []struct {
		name, stat string
		want       time.Duration
		fails      bool
	}{
		{"two processors", "cpu  11 22 33 400 55 6 7 8 0 0\ncpu0 5 11 16 200 27 3 3 4 0 0\n", 4550 * time.Millisecond, false},
		{"nothing", "", 0, true},
		{"another line first", "cpu0 11 22 33 400 55\n", 0, true},
		{"too few figures", "cpu 11 22 33 400\n", 0, true},
		{"no figure", "cpu 11 22 33 x 55\n", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := idle([]byte(c.stat)); got != c.want || (err != nil) != c.fails {
				t.Errorf("got %v, error %v; want %v, an error: %v", got, err, c.want, c.fails)
			}
		})
	}
	if _, err := Idle(); err != nil {
		t.Errorf("this machine does not tell: %v", err)
	}
}

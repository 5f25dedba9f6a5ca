package watchmulti

import (
	"testing"
	"time"
)

func TestSecondsKeepTheInstant(t *testing.T) {
	for _, want := range []time.Time{
		time.Unix(1700000000, 0),
		time.Unix(1700000000, 1),
		time.Unix(1700000000, 999_999_999),
	} {
		got, err := parseSeconds(formatSeconds(want))
		if err != nil || !got.Equal(want) {
			t.Errorf("%v became %v, error %v", want, got, err)
		}
	}
}

func TestParseSeconds(t *testing.T) {
	for _, c := range []struct {
		in   string
		want time.Time
		ok   bool
	}{
		{"", time.Time{}, true},
		{"12", time.Unix(12, 0), true},
		{"12.5", time.Unix(12, 500_000_000), true},
		{"12.-5", time.Time{}, false},
		{"soon", time.Time{}, false},
	} {
		got, err := parseSeconds(c.in)
		if !got.Equal(c.want) || (err == nil) != c.ok {
			t.Errorf("%q: got %v, error %v, want %v", c.in, got, err, c.want)
		}
	}
}

func TestRoundUp(t *testing.T) {
	for _, c := range []struct{ in, want time.Time }{
		{time.Unix(5, 0), time.Unix(5, 0)},
		{time.Unix(5, 1), time.Unix(6, 0)},
		{time.Unix(5, 999_999_999), time.Unix(6, 0)},
	} {
		if got := roundUp(c.in); !got.Equal(c.want) {
			t.Errorf("roundUp(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

package longtest

import (
	"fmt"
	"testing"
)

// fatal is a test that records how it ended.
type fatal struct {
	testing.TB
	said string
}

func (f *fatal) Helper() {}

func (f *fatal) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic(f)
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		campaigns, size string
		want            int
		said            string
	}{
		{"1", "12", 12, ""},
		{"1", "", 5, ""},
		{"", "12", 5, ""},
		{"", "many", 5, ""},
		{"1", "many", 0, "TRIALS=many; hint: a number, 1 or more"},
		{"1", "0", 0, "TRIALS=0; hint: a number, 1 or more"},
	} {
		t.Run(fmt.Sprintf("%q with campaigns %q", c.size, c.campaigns), func(t *testing.T) {
			t.Setenv(Campaigns, c.campaigns)
			t.Setenv("TRIALS", c.size)
			f := &fatal{TB: t}
			defer func() {
				if f.said != c.said {
					t.Errorf("said %q, want %q", f.said, c.said)
				}
				if recovered := recover(); recovered != nil && recovered != f {
					panic(recovered)
				}
			}()
			if got := Size(f, "TRIALS", 5); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

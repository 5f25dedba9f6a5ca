package watchmulti

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// formatSeconds renders an instant as the document stores it: seconds since 1970
// with a fraction, here of nanoseconds, so that nothing is rounded.
func formatSeconds(t time.Time) string {
	return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond())
}

// parseSeconds reads the result of formatSeconds. An absent lease end ("") is the
// zero Time, which is past.
func parseSeconds(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	whole, fraction, _ := strings.Cut(s, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read expireAt %q: %w", s, err)
	}
	nanos, err := strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
	if err != nil {
		return time.Time{}, fmt.Errorf("read expireAt %q: %w", s, err)
	}
	return time.Unix(seconds, int64(nanos)), nil
}

// roundUp returns the first whole second not before t, which EXPIREAT can express.
func roundUp(t time.Time) time.Time {
	whole := t.Truncate(time.Second)
	if whole.Before(t) {
		whole = whole.Add(time.Second)
	}
	return whole
}

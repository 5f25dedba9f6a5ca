package design_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/impls/design"
)

func TestLease(t *testing.T) {
	whole, asked := design.Design{Granted: design.WholeSeconds}, design.Design{}
	for _, c := range []struct {
		of        design.Design
		ttl, want time.Duration
	}{
		{whole, 300 * time.Millisecond, time.Second},
		{whole, 1500 * time.Millisecond, 2 * time.Second},
		{whole, 2 * time.Second, 2 * time.Second},
		{asked, 1500 * time.Microsecond, 1500 * time.Microsecond},
	} {
		if got := c.of.Lease(c.ttl); got != c.want {
			t.Errorf("a lease of %v: got %v, want %v", c.ttl, got, c.want)
		}
	}
}

func TestCanLease(t *testing.T) {
	seconds := design.Design{Name: "family/seconds", LeaseUnit: time.Second}
	for _, c := range []struct {
		of   design.Design
		ttl  time.Duration
		want string // in the error; empty for none
	}{
		{seconds, 2 * time.Second, ""},
		{seconds, 300 * time.Millisecond, "hint: a lease of 1s"},
		{seconds, 1500 * time.Millisecond, "hint: a lease of 2s, or to see it: lockbench explore family/seconds "},
		{design.Design{}, time.Nanosecond, ""},
	} {
		if err := c.of.CanLease(c.ttl); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("leases of %v: got error %v, want %q in it", c.ttl, err, c.want)
		}
	}
}

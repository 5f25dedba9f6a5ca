package checker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// TestOccasionsOfAStrikeAreOne checks that a fault of a server is one occasion for all the holds
// that it met, and that a fault of a client is not.
func TestOccasionsOfAStrikeAreOne(t *testing.T) {
	const (
		header = `{"schema":"lockbench/history/v2","design":"d"}` + "\n"
		fault  = `{"op":"fault","client":-1,"call_ns":%d,"note":%q}` + "\n"
		grant  = `{"op":"acquire","client":%d,"key":"%[1]d","call_ns":0,"return_ns":1,"outcome":"ok","attempt_ns":0,"asked_ns":1000,"granted_ns":1000}` + "\n"
		other  = `{"op":"acquire","client":99,"key":%q,"call_ns":%d,"return_ns":%d,"outcome":%q,"attempt_ns":%[2]d,"asked_ns":1000,"granted_ns":1000}` + "\n"
	)
	for _, c := range []struct {
		name, outcome string
		faults        []string
		under         lockbench.Conditions
		want          checker.Finding
	}{
		{"one failover", "refused", []string{"failover"}, lockbench.Failover, checker.Finding{Verdict: checker.Held, Exposure: 1}},
		{"three failovers", "refused", []string{"failover", "failover", "failover"}, lockbench.Failover, checker.Finding{Verdict: checker.Held, Exposure: 3}},
		{"an eviction has two events", "refused", []string{"evicting", "evict"}, lockbench.StateLoss, checker.Finding{Verdict: checker.Held, Exposure: 1}},
		{"of both kinds the rarer counts", "refused", []string{"failover", "failover", "restart"}, lockbench.Failover | lockbench.StateLoss, checker.Finding{Verdict: checker.Held, Exposure: 1}},
		{"no fault", "refused", nil, 0, checker.Finding{Verdict: checker.Held, Exposure: 5}},
		{"violations are counted, not strikes", "ok", []string{"failover"}, lockbench.Failover, checker.Finding{Verdict: checker.Broken, Exposure: 5, Violations: 5}},
	} {
		var b strings.Builder
		b.WriteString(header)
		for client := range 5 {
			fmt.Fprintf(&b, grant, client)
		}
		at := 10
		for _, note := range c.faults {
			fmt.Fprintf(&b, fault, at, note)
			at += 10
		}
		for client := range 5 {
			fmt.Fprintf(&b, other, fmt.Sprint(client), at, at+1, c.outcome)
			at += 10
		}
		got := verdicts(t, strings.NewReader(b.String())).Cells()[lockbench.Exclusion.At(c.under)]
		if got.Verdict != c.want.Verdict || got.Exposure != c.want.Exposure || got.Violations != c.want.Violations {
			t.Errorf("%s: got %v, %d violations of %d; want %v, %d of %d", c.name, got.Verdict, got.Violations, got.Exposure, c.want.Verdict, c.want.Violations, c.want.Exposure)
		}
	}
}

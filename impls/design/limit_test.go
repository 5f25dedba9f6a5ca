package design_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

func TestClaimsUnderFaults(t *testing.T) {
	d := design.Design{
		Claims: []lockbench.Guarantee{lockbench.Exclusion, lockbench.Recovery, lockbench.Cancel},
		Limits: []design.Limit{
			{Fault: "cancel", Gives: []lockbench.Guarantee{lockbench.Exclusion}, Why: "it falls through"},
			{Fault: design.ThreadDeath, Gives: []lockbench.Guarantee{lockbench.Recovery}, Why: "it renews"},
		},
	}
	for _, c := range []struct {
		name   string
		faults []string
		want   []lockbench.Guarantee
	}{
		{"none", nil, d.Claims},
		{"another", []string{"pause"}, d.Claims},
		{"one", []string{"pause", "cancel"}, []lockbench.Guarantee{lockbench.Recovery, lockbench.Cancel}},
		{"both", []string{design.ThreadDeath, "cancel"}, []lockbench.Guarantee{lockbench.Cancel}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, d.ClaimsUnder(c.faults)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

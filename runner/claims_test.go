package runner

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
)

// TestClaimTerms checks that terms change or replace the claims of a design, and that impossible
// cells are rejected with a reason, unless the design claims them already.
func TestClaimTerms(t *testing.T) {
	kept := lockbench.Claims{Keeps: []lockbench.Guarantee{lockbench.Exclusion}, Survives: lockbench.Crash}
	for _, c := range []struct {
		name  string
		terms []string
		of    design.Design
		want  string // the claims
		err   string
	}{
		{"none given", nil, design.Design{Claims: kept}, "exclusion @crash", ""},
		{"a reason is of one term", []string{"+lease,-exclusion@crash: why not"}, design.Design{Claims: kept}, "", `unknown guarantee "lease,-exclusion"`},
		{"more and less, by comma", []string{"+lease,+@failover,-exclusion@crash"}, design.Design{Claims: kept}, "exclusion lease @crash @failover -exclusion@crash", ""},
		{"a reason", []string{"-exclusion@crash: it waits, for ever"}, design.Design{Claims: kept}, "exclusion @crash -exclusion@crash", ""},
		{"all there is", []string{"recovery", "@crash"}, design.Design{Claims: kept}, "recovery @crash", ""},
		{"nothing", []string{"nothing"}, design.Design{Claims: kept}, "nothing @pause @crash @thread-death @lost-reply @cancel @skew @script-flush", ""},
		{"unknown", []string{"exclusoin"}, design.Design{Claims: kept}, "", `--claims: claim "exclusoin": unknown guarantee "exclusoin"; hint: did you mean exclusion?`},
		{"no fences", []string{"+fencing"}, design.Design{Name: "a/b", Claims: kept}, "", "--claims: a/b: it hands out no fences"},
		{"fences", []string{"+fencing"}, design.Design{Claims: kept, Fences: true}, "exclusion fencing @crash", ""},
		{"no nesting", []string{"+reentrancy"}, design.Design{Claims: kept, Reacquire: design.Refreshed}, "", "a second acquire by the owner is refreshed"},
		{"nesting", []string{"+reentrancy"}, design.Design{Claims: kept, Reacquire: design.Nested}, "exclusion reentrancy @crash", ""},
		{"claimed already", []string{"+lease"}, design.Design{Claims: kept.With(lockbench.Fencing)}, "exclusion lease fencing @crash", ""},
		{"nobody to recover from", []string{"recovery", "@nothing"}, design.Design{Claims: kept}, "", "without a condition every owner is alive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Claiming(c.of, c.terms...)
			switch {
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("got error %v, want %q", err, c.err)
			case c.err == "" && (err != nil || got.Claims.String() != c.want):
				t.Errorf("got %s, error %v; want %s", got.Claims, err, c.want)
			}
		})
	}
}

// TestClaimTermsOfAHistory checks that terms for a history respect the meaning of a second acquire
// in its header.
func TestClaimTermsOfAHistory(t *testing.T) {
	h := history.Header{Reacquire: string(design.Nested), Claims: lockbench.LeaseClaims()}
	got, err := withClaims(h, []string{"+reentrancy"})
	if err != nil || !got.Claims.Claims(lockbench.Reentrancy.At(0)) {
		t.Errorf("got %s, error %v; want reentrancy claimed", got.Claims, err)
	}
	h.Reacquire = string(design.Refused)
	if _, err := withClaims(h, []string{"+reentrancy"}); err == nil || !strings.Contains(err.Error(), "is refused, so reentrancy cannot") {
		t.Errorf("got error %v, want the reason", err)
	}
}

package lockbench_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

// TestClaims parses terms onto the claims of a lease lock, and asks for cells.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		terms       string
		claimed     string
		not         string
		occurred    string // asked with not: what had occurred before
		description string
	}{
		{terms: "", claimed: "exclusion lease@crash+skew owner-release@outlived effects@pause", not: "exclusion@outlived effects@failover fencing"},
		{terms: "+fencing", claimed: "fencing fencing@outlived fencing@crash", not: "fencing@failover"},
		{terms: "+@failover", claimed: "exclusion@failover lease@failover+crash", not: "exclusion@state-loss"},
		{terms: "-recovery@failover", claimed: "recovery@crash recovery@state-loss", not: "recovery@failover"},
		{terms: "+@failover -recovery@failover", claimed: "lease@failover", not: "recovery@failover recovery@failover+crash"},
		{terms: "-recovery", claimed: "exclusion", not: "recovery recovery@crash"},
		{terms: "-@skew", claimed: "exclusion", not: "exclusion@skew recovery@skew+crash"},
		{terms: "+exclusion@outlived,-exclusion@outlived+pause", claimed: "exclusion@outlived exclusion@pause", not: "exclusion@outlived+pause effects@outlived"},
		{terms: "-lease@after:cancel", claimed: "lease lease@crash", not: "lease@cancel"},
		{terms: "-lease@after:cancel", not: "lease lease@crash", occurred: "cancel+crash"},
		{terms: "-lease@cancel", claimed: "lease"},
		{terms: "-lease@cancel +lease@cancel", claimed: "lease@cancel"},
		{terms: "-@cancel +lease@cancel", claimed: "lease@cancel", not: "exclusion@cancel"},
		{terms: "exclusion lease", claimed: "exclusion exclusion@crash lease", not: "effects recovery exclusion@failover"},
		{terms: "exclusion @nothing", claimed: "exclusion", not: "exclusion@crash"},
		{terms: "exclusion @crash", claimed: "exclusion@crash", not: "exclusion@pause"},
		{terms: "nothing", not: "exclusion exclusion@crash"},
	} {
		claims, err := lockbench.LeaseClaims().Parse(c.terms)
		if err != nil {
			t.Errorf("%q: %v", c.terms, err)
			continue
		}
		var occurred lockbench.Conditions
		if err := occurred.UnmarshalText([]byte(c.occurred)); err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Fields(c.claimed) {
			if cell := parse(t, text); !claims.Covers(cell.Guarantee, cell.Under, occurred|cell.Under) {
				t.Errorf("%q: %s is not claimed: %s", c.terms, text, claims.Reason(cell))
			}
		}
		for _, text := range strings.Fields(c.not) {
			if cell := parse(t, text); claims.Covers(cell.Guarantee, cell.Under, occurred|cell.Under) {
				t.Errorf("%q: %s is claimed", c.terms, text)
			}
		}
	}
}

// TestRenewingIsClaimedUnlessHindered, also of claims that kept nothing.
func TestRenewingIsClaimedUnlessHindered(t *testing.T) {
	lease := lockbench.LeaseClaims()
	claims := lease.Renewing()
	for text, want := range map[string]bool{
		"exclusion": true, "exclusion@outlived": true, "exclusion@crash": true, "exclusion@outlived+lost-reply+skew": true,
		"exclusion@outlived+pause": false, "exclusion@outlived+crash": false, "exclusion@outlived+thread-death": false,
		"exclusion@outlived+script-flush": false, "exclusion@outlived+cancel+pause": false,
		"exclusion@failover": false, "effects@outlived": false,
	} {
		if got := claims.Claims(parse(t, text)); got != want {
			t.Errorf("%s claimed: %v, want %v", text, got, want)
		}
	}
	if got := claims.Reason(parse(t, "exclusion@outlived+pause")); got != "a process that stands still cannot renew" {
		t.Errorf("exclusion@outlived+pause: got reason %q", got)
	}
	if outlived := lockbench.Exclusion.At(lockbench.Outlived); lease.Claims(outlived) {
		t.Error("the claims that it was called on have changed")
	}
	alone := lockbench.Claims{}.Renewing()
	read, err := lockbench.Claims{}.Parse(alone.Terms()...)
	if err != nil || read.String() != alone.String() || !alone.Claims(lockbench.Exclusion.At(lockbench.Outlived)) {
		t.Errorf("%s is read as %s, %v", alone, read, err)
	}
}

func parse(t *testing.T, text string) lockbench.Cell {
	t.Helper()
	cell, err := lockbench.ParseCell(text)
	if err != nil {
		t.Fatal(err)
	}
	return cell
}

// TestClaimsAreReadAsWritten writes claims, made at random, and reads them.
func TestClaimsAreReadAsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() (all []lockbench.Guarantee) {
		for _, i := range lockbench.Guarantees() {
			if r.IntN(2) == 0 {
				all = append(all, i.Name)
			}
		}
		return all
	}
	any := func() lockbench.Conditions { return lockbench.Conditions(1 + r.IntN(1<<10-1)) }
	for range 500 {
		survives := any()
		claims := lockbench.Claims{Keeps: some(), Survives: survives & any()}
		if r.IntN(2) == 0 {
			claims.Except = append(claims.Except, lockbench.Exception{Under: any(), Lasts: r.IntN(2) == 0, Why: "a reason, with a comma"})
		}
		if len(claims.Keeps) > 0 {
			claims.Also = append(claims.Also, claims.Keeps[0].At(any()|lockbench.Failover))
			claims.Survives &^= lockbench.Failover
			claims.Except = append(claims.Except, lockbench.Exception{Gives: claims.Keeps[:1], Under: any() | lockbench.Failover | lockbench.StateLoss})
			if !claims.Also[0].Under.Has(claims.Except[len(claims.Except)-1].Under) {
				claims.Except = claims.Except[:0] // else the cell would be claimed and given up
			}
			claims.Except = slices.DeleteFunc(claims.Except, func(e lockbench.Exception) bool { return claims.Also[0].Under.Has(e.Under) })
		}
		text, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		var read lockbench.Claims
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(claims.Terms(), read.Terms()); diff != "" {
			t.Errorf("%s (-wrote +read):\n%s", text, diff)
		}
	}
}

func TestClaimsThatAreNone(t *testing.T) {
	for terms, want := range map[string]string{
		"+leese":             `claim "+leese": unknown guarantee "leese"; hint: did you mean lease`,
		"-recovery@failver":  `claim "-recovery@failver": "recovery@failver": unknown condition "failver"; hint: did you mean failover`,
		"+crash":             `unknown guarantee "crash"; hint: it is a condition, as in exclusion@crash; known are exclusion, lease`,
		"+lease@fencing":     `unknown condition "fencing"; hint: it is a guarantee, as in fencing@crash; known are outlived, pause`,
		"+@":                 "names no condition after @",
		"+":                  "it names nothing",
		"-lease@after:cance": `unknown condition "cance"`,
		"+lease@":            "names no condition after @",
	} {
		if _, err := lockbench.LeaseClaims().Parse(terms); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", terms, err, want)
		}
	}
}

// TestExceptionsSayWhy asks why a cell is not claimed.
func TestExceptionsSayWhy(t *testing.T) {
	claims, err := lockbench.LeaseClaims().Parse("-recovery@thread-death: the process renews the locks of its dead threads for ever")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"recovery@thread-death": "the process renews the locks of its dead threads for ever",
		"fencing":               "fencing is not claimed at all",
		"exclusion@failover":    "exclusion is not claimed under failover",
		"exclusion@crash":       "",
	} {
		if got := claims.Reason(parse(t, text)); got != want {
			t.Errorf("%s: got reason %q, want %q", text, got, want)
		}
	}
}

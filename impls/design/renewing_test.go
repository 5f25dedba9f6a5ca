package design_test

import (
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

func TestRenewingIsClaimedUnlessHindered(t *testing.T) {
	claims := design.Renewing(lockbench.LeaseClaims())
	for cell, want := range map[string]bool{
		"exclusion": true, "exclusion@outlived": true, "exclusion@crash": true, "exclusion@outlived+lost-reply+skew": true,
		"exclusion@outlived+pause": false, "exclusion@outlived+crash": false, "exclusion@outlived+thread-death": false,
		"exclusion@outlived+script-flush": false, "exclusion@outlived+cancel+pause": false,
		"exclusion@failover": false, "effects@outlived": false,
	} {
		at, err := lockbench.ParseCell(cell)
		if err != nil {
			t.Fatal(err)
		}
		if got := claims.Claims(at); got != want {
			t.Errorf("%s claimed: %v, want %v", cell, got, want)
		}
	}
}

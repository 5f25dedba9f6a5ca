package runner

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
)

// Claiming returns d with its claims changed by terms, see [lockbench.Claims.Parse]. It returns an
// error if a term is invalid or claims a cell that cannot exist for the design.
func Claiming(d design.Design, terms ...string) (design.Design, error) {
	if err := CheckClaims(terms...); err != nil {
		return d, err
	}
	claims, err := claimed(d.Claims, d.Reacquire, terms)
	if err == nil && !d.Fences && gained(d.Claims, claims, lockbench.Fencing) {
		err = fmt.Errorf("it hands out no fences, so fencing cannot be kept or broken; hint: lua-token/fenced does")
	}
	if err != nil {
		return d, fmt.Errorf("--claims: %s: %w", d.Name, err)
	}
	d.Claims = claims
	return d, nil
}

// CheckClaims returns an error if terms are invalid for any design.
func CheckClaims(terms ...string) error {
	if _, err := (lockbench.Claims{}).Parse(terms...); err != nil {
		return fmt.Errorf("--claims: %w", err)
	}
	return nil
}

// withClaims returns h with its claims changed by terms.
func withClaims(h history.Header, terms []string) (history.Header, error) {
	claims, err := claimed(h.Claims, design.Reacquire(h.Reacquire), terms)
	if err != nil {
		return h, fmt.Errorf("--claims: %w", err)
	}
	h.Claims = claims
	h.AssumedClaims = h.AssumedClaims && len(terms) == 0
	return h, nil
}

// claimed returns the claims were, changed by terms. It returns an error for a cell that cannot
// exist for a lock with this form of reacquiring.
func claimed(were lockbench.Claims, reacquire design.Reacquire, terms []string) (lockbench.Claims, error) {
	if len(terms) == 0 {
		return were, nil
	}
	claims, err := were.Parse(terms...)
	switch {
	case err != nil:
		return were, err
	case reacquire != design.Nested && gained(were, claims, lockbench.Reentrancy):
		return were, fmt.Errorf("a second acquire by the owner is %s, so reentrancy cannot be kept or broken; hint: hash-reentrant/watchdog nests", reacquire)
	case slices.Contains(claims.Keeps, lockbench.Recovery) && !recoverable(&claims):
		return were, fmt.Errorf("without a condition every owner is alive, so recovery cannot be kept or broken; hint: recovery@crash")
	}
	return claims, nil
}

// gained reports whether the claims are include g and the claims were do not.
func gained(were, are lockbench.Claims, g lockbench.Guarantee) bool {
	return slices.Contains(are.Keeps, g) && !slices.Contains(were.Keeps, g)
}

// recoverable reports whether c claims recovery under any condition.
func recoverable(c *lockbench.Claims) bool {
	return slices.ContainsFunc(lockbench.AllConditions(), func(i lockbench.ConditionInfo) bool {
		return c.Claims(lockbench.Recovery.At(i.Condition))
	})
}

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
)

// claimTerms are the terms of --claims, see [lockbench.Claims.Parse].
type claimTerms []string

// flag adds --claims: of says whose claims the terms change.
func (t *claimTerms) flag(f *pflag.FlagSet, of string) {
	f.StringArrayVar((*[]string)(t), "claims", nil, "hold the locks to these `terms`: with signs they change what "+of+
		" (+exclusion@failover, '-lease@cancel: why'), without they are all there is (exclusion @crash; nothing); repeated, or by comma")
}

// check says what is wrong with the terms, for whatever lock.
func (t claimTerms) check() error {
	if _, err := (lockbench.Claims{}).Parse(t...); err != nil {
		return fmt.Errorf("--claims: %w", err)
	}
	return nil
}

// design returns d with the claims that the terms make of its own.
func (t claimTerms) design(d design.Design) (design.Design, error) {
	if err := t.check(); err != nil {
		return d, err
	}
	claims, err := t.of(d.Claims, d.Reacquire)
	if err == nil && !d.Fences && gained(d.Claims, claims, lockbench.Fencing) {
		err = fmt.Errorf("it hands out no fences, so fencing cannot be kept or broken; hint: lua-token/fenced does")
	}
	if err != nil {
		return d, fmt.Errorf("--claims: %s: %w", d.Name, err)
	}
	d.Claims = claims
	return d, nil
}

// header returns h with the claims that the terms make of its own.
func (t claimTerms) header(h history.Header) (history.Header, error) {
	claims, err := t.of(h.Claims, design.Reacquire(h.Reacquire))
	if err != nil {
		return h, fmt.Errorf("--claims: %w", err)
	}
	h.Claims = claims
	return h, nil
}

// of returns the claims that the terms make of others. It refuses cells that cannot exist
// for the lock.
func (t claimTerms) of(were lockbench.Claims, reacquire design.Reacquire) (lockbench.Claims, error) {
	if len(t) == 0 {
		return were, nil
	}
	claims, err := were.Parse(t...)
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

// gained tells whether g is claimed now and was not before.
func gained(were, are lockbench.Claims, g lockbench.Guarantee) bool {
	return slices.Contains(are.Keeps, g) && !slices.Contains(were.Keeps, g)
}

// recoverable tells whether recovery is claimed under any condition.
func recoverable(c *lockbench.Claims) bool {
	return slices.ContainsFunc(lockbench.AllConditions(), func(i lockbench.ConditionInfo) bool {
		return c.Claims(lockbench.Recovery.At(i.Condition))
	})
}

// checkClaims says what is wrong with a value of --claims.
func checkClaims(text string) error { return claimTerms{text}.check() }

// listClaims are the terms that a claim may begin with.
func listClaims() []listing {
	all := append(listGuarantees(), listing{Name: "nothing", Summary: "no guarantee is claimed"})
	for _, c := range listConditions() {
		all = append(all, listing{Name: "@" + c.Name, Summary: c.Summary})
	}
	return all
}

// translated says what the claims of a history in the names of before mean.
func translated(h history.Header) string {
	return "its header has the names of before; they are read as: " + h.Claims.String()
}

// cellNames lists cells, separated by commas: the first of many.
func cellNames(cells []lockbench.Cell) string {
	const shown = 6
	var names []string
	for i, cell := range cells {
		if i == shown && len(cells) > shown+1 {
			names = append(names, fmt.Sprintf("%d more", len(cells)-shown))
			break
		}
		names = append(names, cell.String())
	}
	return strings.Join(names, ", ")
}

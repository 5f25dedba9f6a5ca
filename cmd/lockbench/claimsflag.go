package main

import (
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/runner"
)

// claimsFlag adds --claims: the argument of names the claims that the terms
// change, see [lockbench.Claims.Parse].
func claimsFlag(f *pflag.FlagSet, terms *[]string, of string) {
	f.StringArrayVar(terms, "claims", nil, "judge the locks by these `terms`: terms with a sign change what "+of+
		" (+exclusion@failover, '-lease@cancel: why'), terms without one replace it (exclusion @crash; nothing); repeated or separated by commas")
}

// checkClaims returns an error if a value of --claims is wrong.
func checkClaims(text string) error { return runner.CheckClaims(text) }

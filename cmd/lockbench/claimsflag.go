package main

import (
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/runner"
)

// claimsFlag adds --claims. The help says that the terms change the claims of the argument of; see
// [lockbench.Claims.Parse] for their syntax.
func claimsFlag(f *pflag.FlagSet, terms *[]string, of string) {
	f.StringArrayVar(terms, "claims", nil, "judge the locks by these `terms`: terms with a sign change the claims of "+of+
		" (+exclusion@failover, '-lease@cancel: why'), terms without a sign replace them (exclusion @crash; nothing); repeated or separated by commas")
}

// checkClaims returns an error if a value of --claims is wrong.
func checkClaims(text string) error { return runner.CheckClaims(text) }

package main

import (
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/runner"
)

// claimsFlag adds --claims: of says whose claims the terms change, see
// [lockbench.Claims.Parse].
func claimsFlag(f *pflag.FlagSet, terms *[]string, of string) {
	f.StringArrayVar(terms, "claims", nil, "hold the locks to these `terms`: with signs they change what "+of+
		" (+exclusion@failover, '-lease@cancel: why'), without they are all there is (exclusion @crash; nothing); repeated, or by comma")
}

// checkClaims says what is wrong with a value of --claims.
func checkClaims(text string) error { return runner.CheckClaims(text) }

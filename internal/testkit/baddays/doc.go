// Package baddays tests what lockbench does on bad days: it is killed and signalled, its disk is
// full, its servers are hostile or fail, its files are damaged. docs/design/bad-days.md has the
// results that no such day may have.
//
// The test is a campaign: see package longtest. Its sizes are KILLS, how many times lockbench or a
// child of it is killed; SIGNALS, how many times each signal is sent to each verb; MUTATIONS, how
// many damaged files are read; TROUBLES, how many times each trouble happens to a server; and SEED.
// It needs Linux, redis-server and redis-cli.
//
//	LOCKBENCH_CAMPAIGNS=1 go test ./internal/testkit/baddays -count=1 -v
//	LOCKBENCH_CAMPAIGNS=1 KILLS=1000 SIGNALS=10 MUTATIONS=20000 TROUBLES=20 go test ./internal/testkit/baddays -count=1 -v -timeout 5h
//
// The first takes six minutes, the second two and a half hours.
package baddays

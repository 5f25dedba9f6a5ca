// Package longtest is the switch for long tests. Tests are short if it is off, so that
// go test ./... is, and as long as they should be in CI.
package longtest

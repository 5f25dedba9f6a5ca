// Package longtest is the switch for tests that search or run for long: they are short
// wherever it is off, so that go test ./... is, and as long as they ought to be in CI.
package longtest

// Package longtest has the switches for long tests and for campaigns. Tests are short if both are
// off, so that go test ./... is, and as long as they should be in CI with long tests. A campaign is
// a test that takes minutes and all processors, so it runs alone and in a size of its own.
package longtest

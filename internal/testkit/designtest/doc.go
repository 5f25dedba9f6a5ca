// Package designtest has the tests that every design of the catalogue must pass, whatever it claims
// ([Contract]), and the means to show the errors of a design, one server command at a time
// ([Through]). For tests only.
//
// Package locktest tests the claims of a design, as it tests everybody's lock. The cases here are
// the rest: they read the keys of the server, compare answers with the design's own entry in the
// catalogue, or check an answer that no guarantee is about.
package designtest

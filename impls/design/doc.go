// Package design says what an entry of the catalogue is (a [Design]) and what it
// is given to run in (an [Environment]): a server, a process identity, a clock, a
// random source and an observer. The families under impls/ build on it; the
// catalogue itself is package impls.
package design

// Package design defines an entry of the catalogue, a [Design], and its
// [Environment]: a server, a process identity, a clock, a random source and an
// observer. The families under impls/ build on it; the catalogue itself is package
// impls.
package design

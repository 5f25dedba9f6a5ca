// Package redsync holds github.com/go-redsync/redsync/v4, unmodified, to the contract:
// on one server, and on five of which a majority decides (Redlock).
//
// A lock counts as valid for its lease less one hundredth, the library's allowance for
// clocks that drift; its leases allow for that. The library reads the real clock and
// crypto/rand: neither the environment's clock nor its random source reaches it. Waiting
// is made of single tries here, since the library says why it failed only of the last.
package redsync

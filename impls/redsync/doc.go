// Package redsync tests github.com/go-redsync/redsync/v4, unmodified, against the
// contract: on one server, and on five with majority decisions (Redlock).
//
// A lock is valid for its lease less one hundredth, the library's allowance for clock
// drift; its leases account for that. The library uses the real clock and crypto/rand,
// not the environment's clock or random source. Waiting consists of single tries here,
// since the library reports only the last one's reason of failure.
package redsync

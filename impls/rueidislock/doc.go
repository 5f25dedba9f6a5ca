// Package rueidislock holds github.com/redis/rueidis/rueidislock, unmodified, to the
// contract: a lock is the majority of three keys on one server, which the library
// renews in the background until it is released. Its waiters are woken by client side
// caching (tracking, noloop), or poll (polling).
//
// With the library's default, tracking, a holder of a lock is told of its own renewal,
// looks whether the key is still its own by renewing it, is told of that, and so on: tens
// of thousands of commands a second for a lock that is merely held. noloop ends that.
//
// The lease belongs to the library's Locker rather than to one acquire, so a process
// keeps a Locker, with a connection of its own, for each lease that is asked for. The
// library reads the real clock, from which it works out when keys end, and the random
// source of math/rand/v2: the environment's clock and random source do not reach it. A
// release is not answered: it counts as done, unless the library had reported the loss.
package rueidislock

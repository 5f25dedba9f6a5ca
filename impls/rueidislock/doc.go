// Package rueidislock tests github.com/redis/rueidis/rueidislock, unmodified, against the
// contract: a lock is the majority of three keys on one server, which the library renews
// in the background until it is released. Its waiters are woken by client side caching
// (tracking, noloop), or poll (polling).
//
// With the library's default, tracking, the server reports to a holder its own renewal;
// the library then checks by another renewal whether the key is still its own, which is
// reported, too, and so on: tens of thousands of commands a second for an idle hold.
// noloop ends that.
//
// The lease belongs to the library's Locker rather than to one acquire, so a process
// keeps a Locker, with a connection of its own, for each requested lease. The library
// computes the end of keys by the real clock, and uses the random source of math/rand/v2,
// not the environment's clock or random source. The library ignores the answers to
// the removal of keys, so the adapter reads them: a release fails with an error if one was
// not answered, and counts as done if all were, unless the library had reported the loss.
package rueidislock

// Package redislock holds github.com/bsm/redislock, unmodified, to the contract: one
// key by Obtain, and two at once by ObtainMulti, which came with v0.10.
//
// The library reads the real clock to bound its retries, and its tokens from
// crypto/rand: neither the environment's clock nor its random source reaches it.
// Attempts are seen where its scripts leave, so that waiting is the library's own.
package redislock

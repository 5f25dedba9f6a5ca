// Package redislock tests github.com/bsm/redislock, unmodified, against the
// contract: one key by Obtain, and two at once by ObtainMulti, which came with
// v0.10.
//
// The library bounds its retries by the real clock, and takes its tokens from
// crypto/rand: it uses neither the environment's clock nor its random source.
// Attempts are observed when its scripts are sent, so that waiting is the library's
// own.
package redislock

// Package batching opens clients that send in one what goroutines ask for at the same
// time, those of github.com/redis/rueidis, on the terms that every other client of a
// design has: the environment's way to the server, nothing sent again by itself,
// commands counted and passed by the environment.
package batching

// Package batching opens clients of github.com/redis/rueidis, which send concurrent requests of
// several goroutines in one write. They obey the same rules as every other client of a design: they
// use the environment's dialer, repeat no command by themselves, and have the environment count and
// intercept their commands.
package batching

// Package commands makes a lock of the Redis commands that take, extend and free it, as a user writes
// them, so that a lock in any language can be tried without its code:
//
//	take: SET {key} {token} NX PX {ttl_ms}
//	free: EVAL @free.lua 1 {key} {token}
//
// See [Texts] for the notation.
package commands

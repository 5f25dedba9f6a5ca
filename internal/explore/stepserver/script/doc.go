// Package script runs the Lua scripts of Redis' EVAL: KEYS and ARGV, the redis module,
// cjson and bit, with the errors and conversions of Redis 7. A Host executes the
// commands that a script calls.
//
// A VM is reused, which makes it fast: starting a Lua state takes twenty times longer
// than a short script. Reuse is sound because a script cannot change state that another
// one sees: the global table and the libraries are read-only to every way of writing,
// as in Redis 7, and functions that could get around that (setfenv, debug, module and
// the like) are missing.
//
// Known differences from Redis: messages of Lua's own run-time errors; numbers of more
// than 14 digits joined to a string with two dots; the libraries struct and cmsgpack,
// which are missing; and, inside a loop, an if with the literal condition false or nil,
// which gopher-lua compiles to a wrong jump.
package script

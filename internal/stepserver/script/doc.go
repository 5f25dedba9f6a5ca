// Package script runs the Lua scripts of Redis' EVAL: KEYS and ARGV, the redis
// module, cjson and bit, errors and conversions as Redis 7 has them. What a script
// calls is executed by a Host.
//
// A VM is kept and used again, which is what makes it fast: starting a Lua state
// takes twenty times longer than a short script. That is sound because a script can
// change nothing that another one sees: the global table and the libraries are
// read-only to every way of writing, as they are in Redis 7, and what could get
// around that (setfenv, debug, module and the like) is not there.
//
// Known differences from Redis: messages of Lua's own run-time errors; numbers of
// more than 14 digits joined to a string with two dots; the libraries struct and
// cmsgpack, which are missing; and, inside a loop, an if whose condition is the literal
// false or nil, which gopher-lua compiles to a wrong jump.
package script

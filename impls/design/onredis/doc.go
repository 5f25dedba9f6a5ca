// Package onredis provides designs on Redis with their part of the environment: the options
// of the servers, connections that are counted and can be reused, and a test for errors
// which prove that a command did nothing. [Open] converts a function that takes an
// [Environment] to the Open of a [design.Design].
package onredis

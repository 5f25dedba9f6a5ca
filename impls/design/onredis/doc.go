// Package onredis is what designs on Redis are given beside what every design is: the
// options of the servers, connections that count and can be reused, and which errors prove
// that a command did nothing. [Open] makes of a function that asks for an [Environment] the
// Open of a [design.Design].
package onredis

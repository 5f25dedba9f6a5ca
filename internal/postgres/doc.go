// Package postgres starts a private PostgreSQL, on a Unix socket in a folder of its own, for tests of locks that stand on
// one. It is for systems with Unix sockets and PostgreSQL's programs.
package postgres

// Package postgres starts a private PostgreSQL, on a Unix socket in a folder of its own, for tests
// of locks on PostgreSQL. It needs a system with Unix sockets and PostgreSQL's programs.
package postgres

// Package postgrestest tests PostgreSQL's advisory locks, which have no lease but a session, with
// locktest. It has tests only, so that no user of lockbench links a driver.
package postgrestest

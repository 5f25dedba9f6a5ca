// Package postgrestest tests PostgreSQL's advisory locks, which have no lease but a session, with
// locktest. It has tests only: nobody who uses lockbench links a driver.
package postgrestest

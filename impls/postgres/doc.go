// Package postgres has locks on PostgreSQL: advisory locks of a session and of a transaction, which
// have no lease and end with their session, and a row with a lease by the server's clock. The manual of
// PostgreSQL describes the advisory locks in the section of that name, in the chapter on concurrency
// control.
//
// Documented faults, each with a test: the server ends a session that an administrator terminates, and
// a transaction that is idle for longer than idle_in_transaction_session_timeout. Both free the key while its
// owner works on, who learns of it at the release. The key of an advisory lock is a number of 64 bits, so
// two names may share one.
package postgres

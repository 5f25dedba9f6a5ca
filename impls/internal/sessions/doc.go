// Package sessions has locks that last as long as a session of a database, which ends with its
// connection, and locks that are rows of a table with a lease. Owners have connections of their own. The
// families on PostgreSQL and MariaDB are made of it.
package sessions

// Package postgres is PostgreSQL as a backend: a server of the user's, or a private one, which is
// started on a loopback port and in a folder of its own, with a password of its own. It keeps guarded
// records. All that a run writes is in a schema of the run, which is dropped afterwards.
package postgres

// Package mariadb has locks on MariaDB: the user locks of a session, GET_LOCK, which have no
// lease and end with their session; the same statements on a pool of connections, where they are no locks;
// and a row with a lease by the server's clock. The knowledge base of MariaDB describes the functions on
// the pages GET_LOCK and RELEASE_LOCK.
//
// Documented faults, each with a test:
//   - The server ends a session that an administrator kills, or that is idle for longer than wait_timeout.
//     Both free the key while its owner works on, who learns of it at the release.
//   - A session that has a lock is granted it again. Of a pool, two owners whose acquires run in one session
//     both have the lock (pooled).
//   - RELEASE_LOCK in another session than that of the acquire answers 0, and the key stays locked until the
//     pool closes the connection (pooled).
//   - RELEASE_LOCK in the session of another owner frees that owner's key (pooled).
//
// MariaDB refuses names of more than 192 bytes, and MySQL of more than 64 characters, so the designs lock by
// a digest of the name.
package mariadb

// Package mariadb is MariaDB as a backend: a server of the user's, or a private one,
// which is started on a loopback port and in a folder of its own, with a password of its own. It keeps
// guarded records. All that a run writes is in tables of the run, which are dropped afterwards.
package mariadb

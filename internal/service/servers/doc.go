// Package servers provides the servers that locks run on: a Redis named by the
// user, a private child process found in PATH, or the embedded miniredis.
// [Choose] picks one of them, [Server.Info] names it in every report.
//
// On every server lockbench writes only keys under one prefix per run
// ([NewPrefix]) and removes them afterwards ([Server.Sweep]). It never flushes a
// database, and configures only servers that it started.
package servers

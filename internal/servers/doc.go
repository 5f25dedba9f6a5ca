// Package servers is where locks run: a Redis the user names, a private child
// process found in PATH, or the embedded miniredis. [Choose] picks one of them,
// [Server.Info] says which, for every report.
//
// Whatever it is, lockbench writes only keys under one prefix of the run
// ([NewPrefix]) and removes them afterwards ([Server.Sweep]). It never flushes a
// database, and configures only servers that it started.
package servers

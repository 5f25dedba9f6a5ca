// Package history records the operations of a run (by a decorator around a
// Locker), writes them to a file and reads such files. Package checker judges
// them.
//
// The order of the files:
//
//   - op.go, outcome.go, header.go, note.go, names.go: an operation, the header and the end of a
//     history
//   - locker.go, lease.go, store.go, service.go, client.go: the decorators that record
//   - stream.go, encode.go, batch.go, recorder.go: from a client's operation to the file
//   - format.go, native.go, decode.go, merge.go: the native file, and its operations put into order
//   - jsonl.go, line.go, strict.go, readjsonl.go, foreign.go: JSON Lines, of other programs, too
//   - edn.go, ednforms.go, ednvalue.go: Jepsen's format
//   - open.go, source.go: any of these as a Source
//   - writer.go, tape.go, copy.go: operations that are complete already: converted, generated or
//     explored ones
package history

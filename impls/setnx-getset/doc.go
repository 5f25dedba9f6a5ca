// Package setnxgetset has locks made of SETNX and GETSET that use the clients' clocks,
// or none: setnx-getset/naive and expiry (stages 1 and 2 of one document) and
// setnx-getset/timestamp (another). docs/designs.md has the documents. Their
// documented faults are kept; each file names its own.
package setnxgetset

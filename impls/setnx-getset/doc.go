// Package setnxgetset has the locks that are made of SETNX and GETSET and keep
// time by the clients' clocks, or by none: setnx-getset/naive and expiry (document
// D2, stages 1 and 2) and setnx-getset/timestamp (D0). Their documented faults are
// kept; each file names its own.
package setnxgetset

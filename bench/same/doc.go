// Same judges the histories of a folder with two builds of lockbench and prints their
// differences; or it judges them with one, and keeps the results in a golden file.
//
//	same [-corpus DIR] [-replays DIR] [-mapping FILE] OLD NEW
//	same [-corpus DIR] [-replays DIR] -write FILE BINARY
//	same -table FILE
//
// A mapping translates names that are different in NEW: the head of bench/same.sh
// describes it. OLD and NEW are binaries of lockbench, or golden files. Exit codes: 0
// nothing differs, 1 something does (or, with -write and -table, a guarantee lacks a
// verdict), 2 bad input.
package main

// Package impls is the catalogue: every lock design that lockbench can put to
// the test, by name. The designs live in the folders below, one per family.
package impls

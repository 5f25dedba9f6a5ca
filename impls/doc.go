// Package impls is the catalogue of all lock designs that lockbench can test,
// by name. The designs are in the folders below, one per family.
package impls

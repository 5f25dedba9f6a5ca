// Package file has locks that stand on files of a directory: a file whose presence is the
// lock, looked for and then made or made in one step, and the kernel's lock on an open file
// (flock). None has a lease: what it grants lasts until it is given up, or its process ends
// where the kernel looks after that. The directory may be on this machine only; network file
// systems keep other promises.
//
// The lock file is the baseline of "Locks on Alawar's sites" (docs/designs.md), which names its
// faults: no guarantee among threads, one machine only, never freed when its holder
// dies.
package file

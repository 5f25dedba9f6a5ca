// Package file has locks that are files in a directory. Either the existence of the file is the
// lock, checked and then created or created in one step, or the kernel locks an open file
// (flock). None has a lease: a grant lasts until its release, or, if the kernel tracks it,
// until its process ends. The directory must be on this machine; network file systems make
// other promises.
//
// The lock file is the baseline of "Locks on Alawar's sites" (docs/designs.md), which names its
// faults: no guarantee among threads, one machine only, never freed when its holder dies.
package file

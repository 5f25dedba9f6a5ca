// Package runfile reads run files: the settings of a run as YAML, which people write and keep beside
// the code that they test. [ReadList] reads other YAML files that people write.
//
// A file is one mapping. The caller defines its keys ([Key]); lockbench derives them from the flags
// of run, so that there is one set of names and a new flag is a new key by itself. [Read] collects
// all faults of a file, each a [Problem] with its position. [Schema] describes the same keys to
// editors.
//
// Package runfile reads the syntax tree of goccy/go-yaml, which refuses duplicate keys. The strict
// decoder of that module (yaml.Strict, version 1.19.2) cannot replace this package: it needs a Go
// struct, and the keys are known only at run time; it stops at the first fault; it loses the
// position of an error that a value's own type returns; it rewrites texts (0x10 becomes 16, 007
// becomes 7); and it accepts missing keys, aliases and a second document.
package runfile

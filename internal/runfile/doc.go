// Package runfile reads run files: the settings of a run as YAML, which people
// write and keep beside the code that they test.
//
// A file is one mapping. The caller defines its keys ([Key]); lockbench derives them
// from the flags of run, so that there is one set of names and a new flag is a new key
// by itself. [Read] reads everything before it complains, and reports each [Problem]
// with its position. [Schema] describes the same keys to editors.
package runfile

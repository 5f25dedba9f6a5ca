// Package runfile reads run files: the settings of a run as YAML, which people
// write and keep beside the code that they test.
//
// A file is one mapping. Its keys are those that the caller knows ([Key]); lockbench
// derives them from the flags of run, so that there is one set of names and a new flag
// is a new key by itself. [Read] looks at everything before it complains, and reports
// each [Problem] where it is. [Schema] describes the same keys to editors.
package runfile

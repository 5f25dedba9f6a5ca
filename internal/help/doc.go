// Package help prints the flags of a command in named groups, wrapped to a fixed width.
//
// [Groups] is the one table of groups: a flag belongs to the same group in every command,
// apart from the few names that mean something else in one of them. [Template] is the usage
// template of all commands; it needs [Flags] under the name flagGroups.
package help

// Package commands runs commands of lockbench, and writes what they report into sections of pages that
// quote the commands.
package commands

// Package architecture has the tests of the rules on imports.
package architecture

// Package architecture has the tests of the rules on rooms, imports and papers.
package architecture

// Package architecture holds the test of which package may import which.
package architecture

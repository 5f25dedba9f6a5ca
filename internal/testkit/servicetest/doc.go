// Package servicetest tests the services that locks stand on: their guarded records ([Records]), and
// private servers that are processes ([Run]). For tests only.
package servicetest

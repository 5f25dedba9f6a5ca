// Package servicetest tests the services that locks stand on: their guarded records ([Records]), and
// private servers that are processes ([Run]). [NATS] is a server of a user's. For tests only.
package servicetest

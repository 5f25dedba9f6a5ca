//go:build etcd35

package main

const name = "etcd/mutex-3.5"

// alreadyReleased returns false: an Unlock of 3.5 does not say whether the mutex is held.
func alreadyReleased(error) bool { return false }

//go:build !etcd35

package main

import (
	"errors"

	"go.etcd.io/etcd/client/v3/concurrency"
)

const name = "etcd/mutex"

// alreadyReleased reports whether err is that of an Unlock of a mutex that is not held.
func alreadyReleased(err error) bool { return errors.Is(err, concurrency.ErrLockReleased) }

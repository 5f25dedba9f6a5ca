package locktest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// redislockLocker stands for the adapter that makes a library's client a
// lockbench.Locker; in redislock_test.go it has some twenty lines.
func ExampleExplore() {
	TestMyLock := func(t *testing.T) {
		locktest.Explore(t, func(_ *testing.T, env locktest.Env) lockbench.Locker {
			return redislockLocker{redislock.New(env.Redis)}
		})
	}
	_ = TestMyLock // go test runs it
}

// The lock is on the Redis that the test's author runs; locks on other services are
// tested in the same way.
func ExampleRun() {
	TestMyLock := func(t *testing.T) {
		client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
		t.Cleanup(func() { client.Close() })
		locktest.Run(t, func(*testing.T) lockbench.Locker {
			return redislockLocker{redislock.New(client)}
		})
	}
	_ = TestMyLock // go test runs it
}

func ExampleTry() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer client.Close()
	found, err := locktest.Try(context.Background(), func() (lockbench.Locker, error) {
		return redislockLocker{redislock.New(client)}, nil
	}, locktest.WithClaims("exclusion", "recovery"))
	if err != nil {
		return // nothing was tested
	}
	for _, cell := range found.Cells.Sorted() {
		fmt.Println(cell, found.Cells[cell].Verdict, found.Tests[cell].Err)
	}
}

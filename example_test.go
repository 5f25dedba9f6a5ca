package lockbench_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// door is a lock that lets everybody in.
type door struct{}

func (door) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	return door{}, nil
}

func (door) Release(context.Context) error { return nil }

// The record of a lock is judged: two clients held one key at once.
func Example() {
	var file bytes.Buffer
	recorder, err := history.NewRecorder(&file, history.Header{Design: "door", Claims: lockbench.LeaseClaims()})
	if err != nil {
		fmt.Println(err)
		return
	}
	first, second := recorder.Locker(door{}), recorder.Locker(door{})
	ctx, options := context.Background(), lockbench.Options{TTL: time.Minute}
	for _, owner := range []lockbench.Locker{first, second} {
		if _, err := owner.Acquire(ctx, "job", options); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := recorder.Close(history.Trailer{EndNS: recorder.Now()}); err != nil {
		fmt.Println(err)
		return
	}

	src, err := history.NewSource(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := checker.Check(src)
	if err != nil {
		fmt.Println(err)
		return
	}
	found := result.Cells()[lockbench.Exclusion.At(0)]
	fmt.Printf("exclusion is %v: %s\n", found.Verdict, found.Counterexample.Sentence)
	// Output: exclusion is broken: client 1 and client 2 held the key at the same time, both within their validity
}

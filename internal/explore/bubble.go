package explore

import (
	"context"
	"net"
	"sync"
	"time"
)

// A Bubble is a way into testing/synctest, whose import would link package testing
// into every program that explores. Package internal/bubble makes one.
type Bubble struct {
	// Enter runs body as the root of a new bubble and returns when all of the
	// bubble's goroutines have ended. It is not to be called within a bubble.
	Enter func(body func())
	// Wait returns when every other goroutine of the caller's bubble is blocked for
	// good or asleep.
	Wait func()
}

// BeforeBubbles has package net make what it keeps for looking up names. What is made in a
// bubble may be used in that one alone, and a client library looks up the name of its server.
// It is to be called before any bubble of the program is entered; [Run] and [Rerun] call it.
var BeforeBubbles = sync.OnceFunc(func() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = (&net.Resolver{PreferGo: true}).LookupHost(ctx, "localhost") // the answer is not needed
})

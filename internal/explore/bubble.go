package explore

import (
	"context"
	"net"
	"sync"
	"time"
)

// A Bubble gives access to testing/synctest, because its import would link package testing
// into every program that explores. Package internal/explore/bubble makes one.
type Bubble struct {
	// Enter runs body as the root of a new bubble and returns when all of the bubble's
	// goroutines have ended. It must not be called within a bubble.
	Enter func(body func())
	// Wait returns when every other goroutine of the caller's bubble is blocked for
	// good or asleep.
	Wait func()
}

// BeforeBubbles makes package net initialize its resolver. Objects made in a bubble may be
// used only in that bubble, and a client library looks up the name of its server. Call it
// before entering any bubble of the program; [Run] and [Rerun] call it.
var BeforeBubbles = sync.OnceFunc(func() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = (&net.Resolver{PreferGo: true}).LookupHost(ctx, "localhost") // the answer is not needed
})

package explore

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

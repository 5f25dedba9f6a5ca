package bubble

import (
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/internal/lib/figures"
)

// A LeftError is the error of a bubble with goroutines that do not end. They stay for as long as
// the program runs: nothing can end them.
type LeftError struct {
	// Blocked is set if the root of the bubble is one of them: a call in it never returns.
	Blocked bool
	// Goroutines has the first line outside of the standard library of each, the line of the go
	// statement if that is all.
	Goroutines []string
}

// Error implements error.
func (e *LeftError) Error() string {
	n := figures.Plural(int64(len(e.Goroutines)), "goroutine")
	if e.Blocked {
		return fmt.Sprintf("the lock waits for ever, in %s: %s", n, counted(e.Goroutines))
	}
	return fmt.Sprintf("the lock left %s behind: %s", n, counted(e.Goroutines))
}

// mostLines bounds the lines of an error.
const mostLines = 5

// counted lists lines, each once and with the number of its goroutines.
func counted(lines []string) string {
	number := map[string]int{}
	for _, l := range lines {
		number[l]++
	}
	var all []string
	for _, l := range slices.Sorted(maps.Keys(number)) {
		all = append(all, fmt.Sprintf("%d in %s", number[l], l))
	}
	if more := len(all) - mostLines; more > 0 {
		all = append(all[:mostLines], fmt.Sprintf("and more, in %s", figures.Plural(int64(more), "other line")))
	}
	return strings.Join(all, ", ")
}

// lastRest is the virtual time that goroutines have to end, after the clean-ups of the test: a
// watchdog that looks at each tick whether it was closed needs one tick.
const lastRest = time.Minute

// Enter runs body as the root of a new bubble of the test t, and returns when all of the bubble's
// goroutines have ended. The goroutine of t must call it. If some goroutines never end, Enter
// returns a *[LeftError] about them. If none is left and body fails its test, Enter ends t as
// [synctest.Test] does.
func Enter(t *testing.T, body func(t *testing.T)) (err error) {
	var number string
	defer func() {
		switch p := recover(); {
		case p == nil:
		case !isDeadlock(p):
			panic(p)
		default:
			err = &LeftError{Blocked: strings.Contains(fmt.Sprint(p), "all goroutines"), Goroutines: within(number)}
		}
	}()
	// A client library may keep timers in a sync.Pool, and a timer of another bubble ends the
	// program. Two collections empty a pool.
	runtime.GC()
	runtime.GC()
	synctest.Test(t, func(t *testing.T) {
		number = inBubble.FindString(stacks(false))
		t.Cleanup(func() { time.Sleep(lastRest) })
		body(t)
	})
	return nil
}

// isDeadlock reports whether the caller of [synctest.Test] panics with p because goroutines are
// left.
func isDeadlock(p any) bool {
	err, ok := p.(error)
	return ok && strings.HasPrefix(err.Error(), "deadlock: ")
}

// inBubble matches the end of the first line of a goroutine's stack.
var inBubble = regexp.MustCompile(`synctest bubble \d+\]`)

// stacks returns the stack of the calling goroutine, or of all.
func stacks(all bool) string {
	for size := 1 << 16; ; size *= 2 {
		text := make([]byte, size)
		if n := runtime.Stack(text, all); n < size {
			return string(text[:n])
		}
	}
}

// within lists the goroutines of a bubble. It leaves out the root, which waits for the goroutine of
// the test.
func within(number string) (all []string) {
	for one := range strings.SplitSeq(stacks(true), "\n\n") {
		if head, frames, _ := strings.Cut(one, "\n"); strings.Contains(head, number) && !strings.Contains(frames, "testing/synctest.testingSynctestTest(") {
			all = append(all, userLine(frames))
		}
	}
	return all
}

// Panicked returns the first line outside of the standard library of a panic that its caller has
// just recovered from.
func Panicked() string {
	_, frames, _ := strings.Cut(stacks(false), "\npanic(")
	return userLine("panic(" + frames)
}

// userLine returns the first line of a stack outside of the standard library.
func userLine(frames string) string {
	lines := strings.Split(strings.TrimSpace(frames), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		function, place := lines[i], strings.TrimSpace(lines[i+1])
		if ofLibrary(place) {
			continue
		}
		place, _, _ = strings.Cut(place, " +0x")
		function, _, _ = strings.Cut(strings.TrimPrefix(function, "created by "), " in goroutine ")
		if strings.HasSuffix(function, ")") { // its arguments
			function = function[:strings.LastIndexByte(function, '(')]
		}
		return fmt.Sprintf("%s (%s)", function, place)
	}
	return "a line of the standard library"
}

// ofLibrary reports whether a place is one of the standard library.
func ofLibrary(place string) bool {
	if library != "" {
		return strings.HasPrefix(place, library)
	}
	first, _, _ := strings.Cut(place, "/")
	return !strings.Contains(first, ".")
}

// library begins the name of each source file of the standard library. It is empty in a program that
// is built with -trimpath.
var library = func() string {
	var pc [1]uintptr
	runtime.Callers(0, pc[:]) // itself
	frame, _ := runtime.CallersFrames(pc[:]).Next()
	return strings.TrimSuffix(frame.File, "runtime/extern.go")
}()

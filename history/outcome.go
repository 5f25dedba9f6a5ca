package history

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"

	"github.com/lockbench/lockbench"
)

// A verdict is what an operation's error says about it.
type verdict struct {
	outcome Outcome
	late    bool
	note    string
}

// judge reads an operation's error as the contract has it: what wraps none of
// the contract's errors leaves the outcome unknown.
func judge(err error) verdict {
	if err == nil {
		return verdict{outcome: OK}
	}
	return judgeError(err)
}

func judgeError(err error) verdict {
	switch {
	case errors.Is(err, lockbench.ErrNotAcquired):
		return verdict{outcome: Refused}
	case errors.Is(err, lockbench.ErrNotHeld):
		return verdict{outcome: LossReported}
	case errors.Is(err, lockbench.ErrLate):
		return verdict{outcome: OK, late: true}
	case errors.Is(err, lockbench.ErrNoEffect):
		return verdict{outcome: Failed, note: classOf(err)}
	}
	return verdict{outcome: Unknown, note: classOf(err)}
}

// Stale is the note of an access that a guarded store refused.
const Stale = "stale"

// classOf names the class of an error in a word. There are few classes, so that
// a report can count them.
func classOf(err error) string {
	var netErr net.Error
	switch {
	case errors.Is(err, lockbench.ErrStale):
		return Stale
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timeout"
	case errors.As(err, &netErr) && netErr.Timeout():
		return "timeout"
	case strings.Contains(err.Error(), "pool timeout"):
		return "pool-timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "connection"
	case netErr != nil:
		return "connection"
	}
	if strings.Contains(err.Error(), "NOSCRIPT") { // also where a lock put it into words of its own
		return "noscript"
	}
	if code := redisCode(err); code != "" {
		return code
	}
	return "error"
}

// redisCode returns the code that opens the text of a Redis error ("NOSCRIPT No
// matching script"), of err itself or of any that it wraps, in lower case, or nothing.
func redisCode(err error) string {
	code, _, _ := strings.Cut(err.Error(), " ")
	if len(code) >= 2 && len(code) <= 16 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return strings.ToLower(code)
	}
	for _, within := range unwrapped(err) {
		if code := redisCode(within); code != "" {
			return code
		}
	}
	return ""
}

// unwrapped returns what err wraps.
func unwrapped(err error) []error {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if within := e.Unwrap(); within != nil {
			return []error{within}
		}
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	}
	return nil
}

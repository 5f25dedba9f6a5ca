package checker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

var errDenied = errors.New("NOPERM this user has no permissions to run the 'evalsha' command")

// answering is a lock that answers every acquire with the same error.
type answering struct{ err error }

func (a answering) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	return nil, a.err
}

// TestWhatTheServerRefusesBreaksNothing: a free key is refused. If the server refused to run the
// command, that is no refusal by the lock, however the lock reports it.
func TestWhatTheServerRefusesBreaksNothing(t *testing.T) {
	for _, c := range []struct {
		name    string
		err     error
		verdict checker.Verdict
	}{
		{"refused", lockbench.ErrNotAcquired, checker.Broken},
		{"an error of the connection, taken for a refusal", fmt.Errorf("%w: connection reset", lockbench.ErrNotAcquired), checker.Broken},
		{"an answer of the lock's own, taken for a refusal", fmt.Errorf("%w: BUSY", lockbench.ErrNotAcquired), checker.Broken},
		{"a wait of its own that ended, by its word alone", fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, context.DeadlineExceeded), checker.Broken},
		{"a wait of its own that ended, in words", fmt.Errorf("%w: %v", lockbench.ErrNotAcquired, context.DeadlineExceeded), checker.Broken},
		{"denied", errDenied, checker.Untested},
		{"denied, taken for a refusal", fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, errDenied), checker.Untested},
		{"denied, taken for a refusal in words", fmt.Errorf("%w: %v", lockbench.ErrNotAcquired, errDenied), checker.Untested},
		{"without effect", fmt.Errorf("%w: %w", lockbench.ErrNoEffect, errDenied), checker.Untested},
		{"out of memory", fmt.Errorf("%w: OOM command not allowed when used memory > 'maxmemory'.", lockbench.ErrNotAcquired), checker.Untested},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := refusals(t, func(client *history.Client) {
				_, _ = client.Locker(answering{c.err}).Acquire(t.Context(), "k", lockbench.Options{TTL: 1e9})
			})
			if found.Verdict != c.verdict {
				t.Errorf("got %v after %d occasions, want %v", found.Verdict, found.Exposure, c.verdict)
			}
		})
	}
}

// impatient is a lock that gives each try up after a time.
type impatient struct{ after time.Duration }

func (l impatient) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	time.Sleep(l.after)
	return nil, fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, context.DeadlineExceeded)
}

// TestGivingUpTakesTime: a given-up try is no refusal if it lasted for as long as the lock waits
// for an answer, or its context was over.
func TestGivingUpTakesTime(t *testing.T) {
	for _, c := range []struct {
		name            string
		lasts, declared time.Duration
		cancelled       bool
		verdict         checker.Verdict
	}{
		{"at once", 0, 0, false, checker.Broken},
		{"short", 19 * time.Millisecond, 0, false, checker.Broken},
		{"its own wait", 150 * time.Millisecond, 0, false, checker.Untested},
		{"as declared", 5 * time.Millisecond, 5 * time.Millisecond, false, checker.Untested},
		{"shorter than declared", 100 * time.Millisecond, 150 * time.Millisecond, false, checker.Broken},
		{"its context was over", 0, 0, true, checker.Untested},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancelled {
					cancel()
				}
				found := refusals(t, func(client *history.Client) {
					client.GivesUp(c.declared)
					_, _ = client.Locker(impatient{c.lasts}).Acquire(ctx, "k", lockbench.Options{TTL: 1e9})
				})
				if found.Verdict != c.verdict {
					t.Errorf("got %v after %d occasions, want %v", found.Verdict, found.Exposure, c.verdict)
				}
			})
		})
	}
}

// refusals is the finding for the refusals that four clients record, one after the other.
func refusals(t *testing.T, acquire func(*history.Client)) checker.Finding {
	t.Helper()
	var file bytes.Buffer
	r, err := history.NewRecorder(&file, history.Header{Design: "d", Claims: lockbench.LeaseClaims(), Reacquire: "refused"})
	if err != nil {
		t.Fatal(err)
	}
	for id := range int32(4) {
		acquire(r.Client(id, id))
	}
	if err := r.Close(history.Trailer{}); err != nil {
		t.Fatal(err)
	}
	return verdicts(t, &file).Cells().Touched(lockbench.NoSpuriousRefusal.At(0))
}

// TestWordsOfErrorsChangeNothing: the class of an error decides, with words behind it and without,
// as in older histories.
func TestWordsOfErrorsChangeNothing(t *testing.T) {
	for _, c := range []struct {
		note    string
		verdict checker.Verdict
	}{
		{"noscript", checker.Broken},
		{"noscript: NOSCRIPT No matching script. Please use EVAL.", checker.Broken},
		{"noperm: " + errDenied.Error(), checker.Untested},
	} {
		t.Run(c.note, func(t *testing.T) {
			found := verdicts(t, strings.NewReader(fmt.Sprintf(`{"schema":"lockbench/history/v2","design":"d"}
{"op":"acquire","client":1,"key":"a","call_ns":0,"return_ns":1,"outcome":"ok","attempt_ns":0,"asked_ns":100,"granted_ns":100}
{"op":"fault","client":-1,"call_ns":2,"note":"script-flush"}
{"op":"release","client":1,"key":"a","call_ns":3,"return_ns":4,"outcome":"failed","note":%q}
`, c.note))).Cells().Touched(lockbench.Answers.At(lockbench.ScriptFlush))
			if found.Verdict != c.verdict {
				t.Errorf("got %v, want %v", found.Verdict, c.verdict)
			}
		})
	}
}

func verdicts(t *testing.T, file interface{ Read([]byte) (int, error) }) checker.Result {
	t.Helper()
	src, err := history.NewSource(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := checker.Check(src)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

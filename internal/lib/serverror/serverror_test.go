package serverror_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lockbench/lockbench/internal/lib/serverror"
)

const denied = "NOPERM this user has no permissions to run the 'evalsha' command"

// hidden wraps an error that its text does not show.
type hidden struct{ error }

func (hidden) Error() string   { return "it failed" }
func (h hidden) Unwrap() error { return h.error }

func TestRefusalOf(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		code string
		text string
		none bool // nothing ran
	}{
		{"nothing", nil, "", "", false},
		{"a permission", errors.New(denied), "NOPERM", denied, true},
		{"wrapped", fmt.Errorf("lock %q: %w", "a", errors.New(denied)), "NOPERM", denied, true},
		{"in words of its own", errors.New("cannot lock: " + denied), "NOPERM", denied, true},
		{"not shown", hidden{errors.New(denied)}, "NOPERM", denied, true},
		{"of several", errors.Join(errors.New("lock not acquired"), hidden{errors.New(denied)}), "NOPERM", denied, true},
		{"in a script", errors.New("ERR The user executing the script can't run this command or subcommand script: 7add, on @user_script:1."),
			"NOPERM", "The user executing the script can't run this command or subcommand script: 7add, on @user_script:1.", false},
		{"in a script since 7.2", errors.New("NOPERM ACL failure in script: User a has no permissions to run the 'set' command"),
			"NOPERM", "NOPERM ACL failure in script: User a has no permissions to run the 'set' command", false},
		{"full, in a script of old", errors.New("ERR Error running script: @user_script: 1: -OOM command not allowed when used memory > 'maxmemory'."),
			"OOM", "OOM command not allowed when used memory > 'maxmemory'.", true},
		{"busy", errors.New("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."),
			"BUSY", "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", true},
		{"another node", errors.New("MOVED 3999 127.0.0.1:6381"), "MOVED", "MOVED 3999 127.0.0.1:6381", true},
		{"a lock's own word", errors.New("BUSY another holds the lock"), "", "", false},
		{"within a word", errors.New("XNOPERM and NOPERMIT and NOPERM"), "", "", false},
		{"another reply", errors.New("NOSCRIPT No matching script"), "", "", false},
		{"no reply", errors.New("lock not acquired"), "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := serverror.RefusalOf(c.err)
			if got.Code != c.code || got.Text != c.text || got.NothingRan() != c.none || got.Found() != (c.code != "") {
				t.Errorf("got %+v, nothing ran: %v, want %q, %q, %v", got, got.NothingRan(), c.code, c.text, c.none)
			}
		})
	}
}

func TestReply(t *testing.T) {
	for _, c := range []struct {
		name       string
		err        error
		code, text string
	}{
		{"nothing", nil, "", ""},
		{"a reply", errors.New("NOSCRIPT No matching script"), "NOSCRIPT", "NOSCRIPT No matching script"},
		{"wrapped", fmt.Errorf("release: %w", errors.New("ERR value is not an integer")), "ERR", "ERR value is not an integer"},
		{"a sentence", errors.New("EOF: the end"), "", ""},
		{"a letter", errors.New("A lock"), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code, text := serverror.Reply(c.err); code != c.code || text != c.text {
				t.Errorf("got %q, %q, want %q, %q", code, text, c.code, c.text)
			}
		})
	}
}

func TestInnermost(t *testing.T) {
	cause := errors.New("cause")
	for _, err := range []error{cause, fmt.Errorf("a: %w", cause), fmt.Errorf("%w: %w", errors.New("meaning"), fmt.Errorf("b: %w", cause))} {
		if got := serverror.Innermost(err); got != cause {
			t.Errorf("%v: got %v", err, got)
		}
	}
}

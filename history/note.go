package history

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/serverror"
)

// Stale is the note of an access that a guarded store refused.
const Stale = "stale"

// What notes may hold of the words of errors, see [Op.ErrorWords].
const (
	longestWords = 200 // bytes
	keptWords    = 64  // different ones in a history: a name or a port in them makes others
	wordsFollow  = ": "
)

// notes are the notes on errors of one history. They are safe for concurrent use.
type notes struct {
	mu   sync.Mutex
	kept map[string]struct{}
}

// of is the note on an error: its class and, while there is room for another, its words. Nil
// notes have no words.
func (n *notes) of(err error) string {
	class := classOf(err)
	if n == nil || class == Stale {
		return class
	}
	note := class + wordsFollow + wordsOf(err)
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.kept[note]; known {
		return note
	}
	if len(n.kept) >= keptWords {
		return class
	}
	if n.kept == nil {
		n.kept = map[string]struct{}{}
	}
	n.kept[note] = struct{}{}
	return note
}

// ErrorClass is the class of the error with which the operation ended, in a word: the code of
// the server's reply in lower case ("noperm"), "connection", "connection-refused", "timeout",
// "pool-timeout", "canceled", [Stale] or "error". It is empty where there was no error, and of
// events.
func (op *Op) ErrorClass() string {
	if op.event() {
		return ""
	}
	class, _, _ := strings.Cut(op.Note, wordsFollow)
	return class
}

// ErrorWords are the words of that error, of a reply those of the server: at most 200 bytes,
// what cannot be printed escaped. They are empty where the history has them not: of the errors
// of one history, 64 different ones are kept.
func (op *Op) ErrorWords() string {
	if op.event() {
		return ""
	}
	_, words, _ := strings.Cut(op.Note, wordsFollow)
	return words
}

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
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection-refused"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "connection"
	case netErr != nil:
		return "connection"
	}
	return replyClass(err)
}

// replyClass is the class of an error that a server answered.
func replyClass(err error) string {
	if strings.Contains(err.Error(), "NOSCRIPT") { // also where a lock put it into words of its own
		return "noscript"
	}
	if refusal := serverror.RefusalOf(err); refusal.Found() {
		return strings.ToLower(refusal.Code)
	}
	if code, _ := serverror.Reply(err); code != "" {
		return strings.ToLower(code)
	}
	return "error"
}

// wordsOf are the words of an error: those of the server, if it answered with one, or of the
// network, without the port of the client, which is another each time.
func wordsOf(err error) string {
	var network *net.OpError
	refusal := serverror.RefusalOf(err)
	_, reply := serverror.Reply(err)
	switch {
	case refusal.Found():
		return printable(refusal.Text)
	case reply != "":
		return printable(reply)
	case errors.As(err, &network):
		remote := *network
		remote.Source = nil
		return printable(remote.Error())
	}
	words := serverror.Innermost(err).Error()
	if words == lockbench.ErrNoEffect.Error() || words == "" {
		words = err.Error()
	}
	return printable(words)
}

// printable is text, cut to the longest words, with what cannot be printed escaped.
func printable(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		shown := text[i : i+size]
		if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) {
			shown = strings.Trim(strconv.QuoteToASCII(shown), `"`)
		}
		if b.Len()+len(shown) > longestWords {
			break
		}
		b.WriteString(shown)
		i += size
	}
	return b.String()
}

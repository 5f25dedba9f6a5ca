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
	"github.com/lockbench/lockbench/internal/lib/serverror"
)

// Stale is the note of an access that a guarded store refused.
const Stale = "stale"

// Bounds of the text of errors in notes, see [Op.ErrorWords].
const (
	maxTextBytes  = 200 // bytes
	maxTexts      = 64  // different ones in a history: an error may contain a name or a port, and so be new each time
	textSeparator = ": "
)

// notes makes the notes on the errors of one history. It is safe for concurrent use.
type notes struct {
	mu    sync.Mutex
	texts map[string]struct{}
}

// of returns the note on an error: its class and, unless there are too many, its text. Nil notes
// have no text.
func (n *notes) of(err error) string {
	class := classOf(err)
	if n == nil || class == Stale {
		return class
	}
	note := class + textSeparator + wordsOf(err)
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.texts[note]; known {
		return note
	}
	if len(n.texts) >= maxTexts {
		return class
	}
	if n.texts == nil {
		n.texts = map[string]struct{}{}
	}
	n.texts[note] = struct{}{}
	return note
}

// ErrorClass returns the class of the error that ended the operation, in a word: the code of the
// server's reply in lower case ("noperm"), "connection", "connection-refused", "timeout",
// "pool-timeout", "canceled", [Stale] or "error". It is empty without an error, and for events.
func (op *Op) ErrorClass() string {
	if op.event() {
		return ""
	}
	class, _, _ := strings.Cut(op.Note, textSeparator)
	return class
}

// ErrorWords returns the text of that error, or of the server's reply: at most 200 bytes, with
// unprintable characters escaped. It is empty if the history does not have it: the texts of 64
// different errors are kept in a history.
func (op *Op) ErrorWords() string {
	if op.event() {
		return ""
	}
	_, words, _ := strings.Cut(op.Note, textSeparator)
	return words
}

// classOf returns the class of an error, in a word. There are few classes, so that reports can
// count by class.
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

// replyClass returns the class of an error reply.
func replyClass(err error) string {
	if strings.Contains(err.Error(), "NOSCRIPT") { // also within an error text of the lock
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

// wordsOf returns the text of an error: the server's reply, or the network's text without the client's
// port, which differs each time.
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

// printable returns text, cut to maxTextBytes, with unprintable characters escaped.
func printable(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		shown := text[i : i+size]
		if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) {
			shown = strings.Trim(strconv.QuoteToASCII(shown), `"`)
		}
		if b.Len()+len(shown) > maxTextBytes {
			break
		}
		b.WriteString(shown)
		i += size
	}
	return b.String()
}

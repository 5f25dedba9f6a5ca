// Package render writes the commands and replies of a schedule for people.
package render

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// A Printer renders commands and replies for people: the same text for the same schedule,
// independent of random values and of the time of the run.
type Printer struct {
	// Start is the beginning of the schedule, and Shown the time of day displayed for it: they
	// are whole seconds apart. Times of day in commands and replies are shifted likewise.
	Start, Shown time.Time

	tokens map[string]string // random value -> token#1, token#2 ... in order of appearance
}

// long matches possible random values: at least 16 characters of their encodings.
var long = regexp.MustCompile(`[A-Za-z0-9+/_=-]{16,}`)

// Command renders a pending command.
func (p *Printer) Command(c *stepserver.Command) string {
	if len(c.Queued) > 0 {
		return p.transaction(c.Queued)
	}
	return p.arguments(c.Args)
}

// arguments renders a command's arguments.
func (p *Printer) arguments(args []string) string {
	var words []string
	for i, arg := range args {
		switch {
		case i == 0:
			arg = quoted(strings.ToUpper(arg))
		case i == 1 && isScriptVerb(args[0]):
			arg = scriptName(arg)
		default:
			arg = p.value(arg)
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// transaction renders an EXEC with its commands.
func (p *Printer) transaction(queued [][]string) string {
	var inner []string
	for _, args := range queued {
		inner = append(inner, p.arguments(args))
	}
	return "EXEC (" + strings.Join(inner, "; ") + ")"
}

func isScriptVerb(name string) bool {
	return strings.HasPrefix(strings.ToUpper(name), "EVAL")
}

// scriptName names a script by the beginning of its digest, whether arg is the digest or the
// script.
func scriptName(arg string) string {
	const shown = 8
	if len(arg) != 2*sha1.Size || strings.ContainsAny(arg, " \n") {
		sum := sha1.Sum([]byte(arg))
		arg = hex.EncodeToString(sum[:])
	}
	return "script:" + arg[:shown]
}

// stamp matches numbers that may be times of day: seconds, milli-, micro- or nanoseconds since
// 1970.
var stamp = regexp.MustCompile(`[0-9]+`)

// units are the units of times of day, by the number of digits from 1973 to 2286.
var units = map[int]time.Duration{
	9: time.Second, 10: time.Second, 12: time.Millisecond, 13: time.Millisecond,
	15: time.Microsecond, 16: time.Microsecond, 18: time.Nanosecond, 19: time.Nanosecond,
}

// near bounds the distance of a time of day from the start of the schedule.
const near = 40 * 24 * time.Hour

// timed shifts the times of day in text for display.
func (p *Printer) timed(text string) string {
	if p.Start.Equal(p.Shown) {
		return text
	}
	if len(text) == 8 { // as bytes, the highest first
		const unit = time.Millisecond
		bytes := []byte(text)
		n := int64(binary.BigEndian.Uint64(bytes))
		if off := n - p.Start.UnixMilli(); max(off, -off) <= int64(near/unit) {
			binary.BigEndian.PutUint64(bytes, uint64(n+int64(p.Shown.Sub(p.Start)/unit)))
			return string(bytes)
		}
	}
	return stamp.ReplaceAllStringFunc(text, func(digits string) string {
		unit := units[len(digits)]
		n, err := strconv.ParseInt(digits, 10, 64)
		if unit == 0 || err != nil {
			return digits
		}
		began := p.Start.UnixNano() / int64(unit)
		if off := n - began; max(off, -off) > int64(near/unit) {
			return digits
		}
		return strconv.FormatInt(n+int64(p.Shown.Sub(p.Start)/unit), 10)
	})
}

// value renders one argument: random parts by name, text that is not plain quoted.
func (p *Printer) value(arg string) string {
	arg = p.timed(arg)
	arg = long.ReplaceAllStringFunc(arg, func(s string) string {
		if !looksRandom(s) {
			return s
		}
		return p.token(s)
	})
	return quoted(arg)
}

// quoted quotes arg unless it is plain text of one word.
func quoted(arg string) string {
	if q := strconv.Quote(arg); arg == "" || strings.ContainsAny(arg, " \t") || len(q) != len(arg)+2 {
		return q
	}
	return arg
}

func (p *Printer) token(s string) string {
	name, known := p.tokens[s]
	if !known {
		if p.tokens == nil {
			p.tokens = map[string]string{}
		}
		name = fmt.Sprintf("token#%d", len(p.tokens)+1)
		p.tokens[s] = name
	}
	return name
}

// looksRandom reports whether s is a random value rather than a word: it is a UUID, with hyphens or
// without, or has at least two kinds of digits, small and large letters, which alternate more often
// than in names.
func looksRandom(s string) bool {
	if uuid.MatchString(s) && strings.ContainsAny(s, "abcdefABCDEF") {
		return true
	}
	alternations, last, kinds := 0, byte('-'), map[byte]bool{}
	for i := range len(s) {
		kind := charKind(s[i])
		if kind == '-' {
			continue
		}
		if last != '-' && kind != last {
			alternations++
		}
		last, kinds[kind] = kind, true
	}
	return len(kinds) > 1 && alternations*4 >= len(s)
}

var uuid = regexp.MustCompile(`(?i)^([0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32})$`)

func charKind(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return '0'
	case c >= 'a' && c <= 'z':
		return 'a'
	case c >= 'A' && c <= 'Z':
		return 'A'
	}
	return '-'
}

// Reply renders a reply: bare values, an array in brackets.
func (p *Printer) Reply(resp string) string {
	text, _ := p.part(resp)
	return text
}

// part renders the first value of resp and returns the rest.
func (p *Printer) part(resp string) (text, rest string) {
	line, rest, _ := strings.Cut(resp, "\r\n")
	if line == "" {
		return "", rest
	}
	switch line[0] {
	case '+', '-', ':':
		return p.timed(strings.TrimPrefix(strings.TrimPrefix(line, "+"), ":")), rest
	case '$':
		n, err := strconv.Atoi(line[1:])
		if err != nil || n < 0 || n+2 > len(rest) {
			return "nil", rest
		}
		return p.value(rest[:n]), rest[n+2:]
	case '*', '%', '~', '>':
		return p.array(line, rest)
	}
	return strings.TrimPrefix(line, "_"), rest
}

func (p *Printer) array(line, rest string) (text, after string) {
	n, err := strconv.Atoi(line[1:])
	if err != nil || n < 0 {
		return "nil", rest
	}
	if line[0] == '%' {
		n *= 2
	}
	var parts []string
	for i := 0; i < n && (rest != "" || i == 0); i++ {
		var one string
		one, rest = p.part(rest)
		parts = append(parts, one)
	}
	return "[" + strings.Join(parts, " ") + "]", rest
}

// Copy returns a printer that knows the same tokens, to render a choice that may not be made.
func (p *Printer) Copy() Printer { return Printer{p.Start, p.Shown, maps.Clone(p.tokens)} }

package commands

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// Texts are the commands of a lock, as a user writes them: those that take it, free it and, if it can
// be extended, extend it.
//
// A text is one command or several, separated by semicolons: each is sent if the one before it said
// yes, and the text says yes if all do. A command is written as for a shell or redis-cli: words,
// separated by blanks, with quotes around a word that has blanks. The words have placeholders: {key}
// is the name of the lock, {token} a random text, another one for each grant, {ttl_ms} and {ttl_s} the
// lease in whole milliseconds or seconds, rounded up, and {now_ms} the time of day of the client. A
// word that begins with @ is the content of the file with that name, such as a script, as it is: a
// script has the key and the token from its arguments.
//
// A command says yes by any reply but nil, zero, a negative number, and an empty text or list. With
// "=> REPLY" at its end, as in "GET {key} => {token}", it says yes by this reply alone; nil is the
// missing reply.
type Texts struct {
	Take   string `json:"take"`
	Free   string `json:"free"`
	Extend string `json:"extend,omitempty"`
}

// A Lock is the parsed form of [Texts], with the contents of files. It can be stored as JSON.
type Lock struct {
	Texts  Texts     `json:"texts"`
	Take   []command `json:"take"`
	Free   []command `json:"free"`
	Extend []command `json:"extend,omitempty"`
}

// A command is a parsed command: its words, and the reply that says yes. An empty Yes stands for the
// usual rule.
type command struct {
	Words []word `json:"words"`
	Yes   string `json:"yes,omitempty"`
}

// A word is one word of a command. Literal words have no placeholders.
type word struct {
	Text    string
	Literal bool
}

var placeholders = []string{"key", "token", "ttl_ms", "ttl_s", "now_ms"}

// arguments returns the texts as flags, in the words of a POSIX shell.
func (t Texts) arguments() string {
	var flags []string
	add := func(name, text string) {
		flags = append(flags, fmt.Sprintf("--%s '%s'", name, strings.ReplaceAll(text, "'", `'\''`)))
	}
	add("take", t.Take)
	add("free", t.Free)
	if t.Extend != "" {
		add("extend", t.Extend)
	}
	return strings.Join(flags, " ")
}

// Parse reads the files and checks the texts. The error names the text, the reason and a hint.
func (t Texts) Parse() (l Lock, err error) {
	l.Texts = t
	for _, part := range []struct {
		name, text string
		into       *[]command
	}{{"take", t.Take, &l.Take}, {"free", t.Free, &l.Free}, {"extend", t.Extend, &l.Extend}} {
		if part.text == "" && part.name == "extend" {
			continue
		}
		if *part.into, err = parseText(part.name, part.text); err != nil {
			return Lock{}, fmt.Errorf("--%s %q: %w", part.name, part.text, err)
		}
	}
	return l, nil
}

func parseText(name, text string) (all []command, err error) {
	words, err := split(text)
	if err != nil {
		return nil, err
	}
	var one command
	end := func() error {
		if len(one.Words) == 0 {
			return errors.New("a command is empty; hint: such as SET {key} {token} NX PX {ttl_ms}")
		}
		all, one = append(all, one), command{}
		return nil
	}
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == separator:
			if err := end(); err != nil {
				return nil, err
			}
		case w == yes:
			if i++; i == len(words) || words[i] == separator {
				return nil, errors.New("no reply follows =>; hint: such as => OK or => nil")
			}
			one.Yes = words[i]
		case one.Yes != "":
			return nil, fmt.Errorf("%q follows the reply; hint: a semicolon ends a command", w)
		default:
			next, err := wordOf(w)
			if err != nil {
				return nil, err
			}
			one.Words = append(one.Words, next)
		}
	}
	if err := end(); err != nil {
		return nil, err
	}
	return all, check(name, all)
}

// check returns an error if a placeholder is unknown or has no value, or if the key is missing.
func check(name string, all []command) error {
	keyed := false
	for _, c := range all {
		for _, w := range append(slices.Clone(c.Words), word{Text: c.Yes}) {
			if w.Literal {
				continue
			}
			for _, found := range placeholder.FindAllStringSubmatch(w.Text, -1) {
				if !slices.Contains(placeholders, found[1]) {
					return unknown(found[1])
				}
				if name == "free" && strings.HasPrefix(found[1], "ttl") {
					return fmt.Errorf("%s: a lock is freed without a lease; hint: leave it out", found[0])
				}
				keyed = keyed || found[1] == "key"
			}
		}
	}
	if !keyed {
		return errors.New("{key} is missing, so that all locks would be one; hint: such as SET {key} {token} NX PX {ttl_ms}")
	}
	return nil
}

// unknown returns the error for a placeholder that there is not: a misspelled one, or a part of a script.
func unknown(name string) error {
	err := suggest.Unknown("placeholder", name, placeholders)
	if len(suggest.Near(name, placeholders)) == 0 {
		err = fmt.Errorf("%w; a script with braces of its own can be a file, such as @free.lua", err)
	}
	return err
}

// placeholder matches a placeholder. Braces around anything but a name stand for themselves.
var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// Words of a text that are no words of a command. No word has a zero byte.
const (
	separator = "\x00;"
	yes       = "\x00=>"
)

// split splits a text into words. Within single quotes every character stands for itself, within
// double quotes and outside of quotes a backslash makes the next one stand for itself. Libraries that
// split lines of a shell take => and ; for operators, or # for a comment.
func split(text string) (words []string, err error) {
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("it has a zero byte; hint: none can be written here")
	}
	var word strings.Builder
	begun, quote, escaped := false, rune(0), false
	end := func() {
		if w := word.String(); begun && w == "=>" {
			words = append(words, yes)
		} else if begun {
			words = append(words, w)
		}
		word.Reset()
		begun = false
	}
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case r == quote && quote != 0:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			begun, quote = true, r
		case r == ';':
			end()
			words = append(words, separator)
		case strings.ContainsRune(" \t\r\n", r):
			end()
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("%s does not end; hint: close the quote", map[bool]string{true: "the last backslash", false: "a quote"}[escaped])
	}
	end()
	return words, nil
}

// MarshalText returns the word as a text has it, but with the content of a file in place of its name.
func (w word) MarshalText() ([]byte, error) {
	if w.Literal && placeholder.MatchString(w.Text) {
		return []byte("@" + w.Text), nil
	}
	return []byte(w.Text), nil
}

// UnmarshalText is the inverse of MarshalText.
func (w *word) UnmarshalText(text []byte) error {
	content, literal := strings.CutPrefix(string(text), "@")
	*w = word{content, literal || !placeholder.MatchString(content)}
	return nil
}

// wordOf returns a word of a text, or the content of the file that it names.
func wordOf(text string) (word, error) {
	path, is := strings.CutPrefix(text, "@")
	if !is {
		return word{text, !placeholder.MatchString(text)}, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return word{}, fmt.Errorf("%w; hint: @ begins the name of a file, such as @free.lua", err)
	}
	return word{string(b), true}, nil
}

// uses reports whether some command of the text has the placeholder.
func uses(all []command, name string) bool {
	return slices.ContainsFunc(all, func(c command) bool {
		return slices.ContainsFunc(c.Words, func(w word) bool { return !w.Literal && strings.Contains(w.Text, "{"+name+"}") })
	})
}

// granted returns the lease that a text grants if ttl is requested: it is as coarse as the placeholder.
func granted(text []command, ttl time.Duration) time.Duration {
	if uses(text, "ttl_s") {
		return design.WholeSeconds(ttl)
	}
	return design.WholeMillis(ttl)
}

// names returns the names of all commands that it may send, in upper case, each once.
func (l *Lock) names() (names []string) {
	for _, c := range slices.Concat(l.Take, l.Free, l.Extend) {
		names = append(names, c.name())
		if end := ends[c.name()]; end != "" {
			names = append(names, end)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// name returns the name of the command in upper case.
func (c *command) name() string { return strings.ToUpper(c.Words[0].Text) }

// ends has the commands that end what a command begins on its connection.
var ends = map[string]string{"WATCH": "UNWATCH", "MULTI": "DISCARD"}

// filled returns the words of a command with values in place of placeholders.
func (c *command) filled(v values) []any {
	args := make([]any, len(c.Words))
	for i, w := range c.Words {
		if args[i] = w.Text; !w.Literal {
			args[i] = v.fill(w.Text)
		}
	}
	return args
}

// values are the values of placeholders.
type values struct {
	key, token string
	ttl        time.Duration
	now        func() time.Time // called only if a placeholder needs it
}

func (v values) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		switch strings.Trim(found, "{}") {
		case "key":
			return v.key
		case "token":
			return v.token
		case "ttl_ms":
			return strconv.FormatInt(design.WholeMillis(v.ttl).Milliseconds(), 10)
		case "ttl_s":
			return strconv.FormatInt(int64(design.WholeSeconds(v.ttl)/time.Second), 10)
		case "now_ms":
			return strconv.FormatInt(v.now().UnixMilli(), 10)
		}
		return found
	})
}

// says reports whether a reply says yes.
func (c *command) says(reply any, v values) bool {
	if c.Yes != "" {
		return textOf(reply) == v.fill(c.Yes)
	}
	switch r := reply.(type) {
	case nil:
		return false
	case int64:
		return r > 0
	case bool:
		return r
	case []any:
		return len(r) > 0
	}
	return textOf(reply) != ""
}

// textOf returns a reply as a user writes it.
func textOf(reply any) string {
	if reply == nil {
		return "nil"
	}
	return fmt.Sprint(reply)
}

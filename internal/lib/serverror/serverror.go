// Package serverror reads the errors of a server: the code and the text of its refusal to run a
// command at all. It goes by the text, so that the errors of every client library, and errors that
// a lock words itself, are read the same way.
package serverror

import "strings"

// NoPerm is the code of a user that lacks a permission.
const NoPerm = "NOPERM"

// refusals are the error codes that prove nothing about a lock: the server does not run the
// command for this user, at this time or in this state. The value is the text that must follow
// the code, empty for any.
var refusals = map[string]string{
	NoPerm: "", "NOAUTH": "", "WRONGPASS": "", "MISCONF": "", "LOADING": "", "READONLY": "", "MASTERDOWN": "",
	"NOREPLICAS": "", "CLUSTERDOWN": "", "OOM": "command not allowed", "BUSY": "is busy running a script",
	"MOVED": ":", "TRYAGAIN": "", "CROSSSLOT": "", // of clusters
}

// inScript is the text that servers before Redis 7.2 send if a script lacks a permission.
const inScript = "The user executing the script can't"

// A Refusal is the reply of a server that refused to run a command.
type Refusal struct {
	// Code opens the reply, Text is all of it.
	Code, Text string
}

// Found reports whether there is a refusal.
func (r Refusal) Found() bool { return r.Code != "" }

// NothingRan reports whether the server ran nothing of the command. A script may have run in part
// when it turns out to lack a permission; no other refusal comes after a script has written.
func (r Refusal) NothingRan() bool {
	script := strings.Contains(r.Text, inScript) || strings.Contains(r.Text, "in script")
	return r.Found() && !(r.Code == NoPerm && script)
}

// RefusalOf returns the refusal in err or in any error that it wraps.
func RefusalOf(err error) (found Refusal) {
	walk(err, func(err error) bool {
		found = refusalIn(err.Error())
		return found.Found()
	})
	return found
}

// IsRefusal reports whether code is the code of a refusal.
func IsRefusal(code string) bool {
	_, is := refusals[code]
	return is
}

// refusalIn returns the first refusal in a text.
func refusalIn(text string) Refusal {
	for from := 0; from < len(text); from++ {
		if text[from] < 'A' || text[from] > 'Z' { // most texts have lower-case letters only
			continue
		}
		word := upperPrefix(text[from:])
		if from == 0 || !isWord(text[from-1]) {
			if code := refusalAt(text[from:], word); code != "" {
				return Refusal{code, text[from:]}
			}
		}
		from += len(word) - 1
	}
	return Refusal{}
}

// refusalAt returns the code of the refusal at the start of a text that begins with word.
func refusalAt(text, word string) string {
	said, known := refusals[word]
	rest, spaced := strings.CutPrefix(text[len(word):], " ")
	switch {
	case known && spaced && strings.Contains(rest, said):
		return word
	case strings.HasPrefix(text, inScript):
		return NoPerm
	}
	return ""
}

// upperPrefix returns the upper-case letters at the start of a text.
func upperPrefix(text string) string {
	n := 0
	for n < len(text) && 'A' <= text[n] && text[n] <= 'Z' {
		n++
	}
	return text[:n]
}

func isWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// Reply returns the code at the start of an error reply ("NOSCRIPT No matching script"), and the
// reply's text, from err itself or from any error that it wraps; both are empty if there is none.
// A code is 2 to 16 upper-case letters.
func Reply(err error) (code, text string) {
	walk(err, func(err error) bool {
		if c := codeOf(err.Error()); c != "" {
			code, text = c, err.Error()
		}
		return code != ""
	})
	return code, text
}

// codeOf returns the code at the start of a text.
func codeOf(text string) string {
	code := upperPrefix(text)
	rest := text[len(code):]
	if len(code) < 2 || len(code) > 16 || rest != "" && rest[0] != ' ' {
		return ""
	}
	return code
}

// walk calls see with err and every error that it wraps, until see returns true.
func walk(err error, see func(error) bool) bool {
	if err == nil {
		return false
	}
	if see(err) {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), see)
	case interface{ Unwrap() []error }:
		for _, within := range e.Unwrap() {
			if walk(within, see) {
				return true
			}
		}
	}
	return false
}

// Innermost returns the innermost error that err wraps: the cause, if err puts the meaning before
// it.
func Innermost(err error) error {
	for {
		var within error
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			within = e.Unwrap()
		case interface{ Unwrap() []error }:
			if all := e.Unwrap(); len(all) > 0 {
				within = all[len(all)-1]
			}
		}
		if within == nil {
			return err
		}
		err = within
	}
}

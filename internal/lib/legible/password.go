package legible

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"
)

// masked replaces a password.
const masked = "***"

// hidden are the passwords of this process, which [Text] masks. Passwords belong to the process, as
// its arguments do.
var hidden atomic.Pointer[passwords]

type passwords struct {
	words []string // masked where they are whole words, the longest first
	parts []part   // masked in their context only
}

// A part is a piece of an address in which a password is masked, whatever the password is.
type part struct{ text, masked string }

// Hide makes [Text] and [All] mask the passwords of the addresses in these texts, in addition to
// the passwords hidden before. Any text may contain an address, and output may repeat the address
// in whole or in part. The returned function undoes the call.
//
// An ordinary word reveals nothing, and text without it would be hard to read: the password of
// redis://:redis@localhost is masked where its context is repeated. The same is true of numbers and
// of passwords of less than four characters.
func Hide(ordinary func(word string) bool, texts ...string) (show func()) {
	var all passwords
	old := hidden.Load()
	show = func() { hidden.Store(old) }
	if old != nil {
		all = passwords{slices.Clone(old.words), slices.Clone(old.parts)}
	}
	found := len(all.parts) + len(all.words)
	for _, text := range texts {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			all.addressIn(line, ordinary)
			for _, field := range strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'[]`, r) }) {
				all.addressIn(strings.TrimRight(field, ","), ordinary)
			}
		}
	}
	if len(all.parts)+len(all.words) == found {
		return show
	}
	slices.Sort(all.words)
	all.words = slices.Compact(all.words)
	longest := func(a, b string) int { return cmp.Compare(len(b), len(a)) }
	slices.SortStableFunc(all.words, longest)
	slices.SortStableFunc(all.parts, func(a, b part) int { return longest(a.text, b.text) })
	hidden.Store(&all)
	return show
}

var (
	scheme = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*):/+`)
	// bare is an address without a scheme, or with one that lacks its slashes.
	bare = regexp.MustCompile(`(?:^|[=/,-])[^\s:@/=]*:([^\s/][^\s@]*)@[\w.\[\]:-]+(?:/|$)`)
)

// addressIn adds the passwords of an address that ends a text.
func (p *passwords) addressIn(text string, ordinary func(string) bool) {
	if m := bare.FindStringSubmatch(text); m != nil {
		p.add(ordinary, m[1])
		return
	}
	at := scheme.FindStringSubmatchIndex(text)
	if at == nil {
		return
	}
	rest := text[at[1]:]
	local := strings.HasSuffix(text[:at[1]], "///")
	user, host := "", rest
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		user, host = rest[:i], rest[i+1:]
	}
	name, password, two := strings.Cut(user, ":")
	switch {
	case two:
		p.add(ordinary, password)
	case !local: // a path may have an @
		p.add(ordinary, name)
	}
	// An unescaped @ or ? in a password moves the border, so that both readings are followed.
	for _, reading := range []string{host, rest} {
		before, query, _ := strings.Cut(reading, "?")
		before, fragment, _ := strings.Cut(before, "#")
		p.add(ordinary, fragment)
		p.query(ordinary, query)
		if local || reading != host {
			continue
		}
		host, path, _ := strings.Cut(before, "/")
		if kind := scheme.FindStringSubmatch(text)[1]; strings.HasPrefix(strings.ToLower(kind), "redis") {
			p.value(ordinary, "", path)
		}
		if _, port, _ := strings.Cut(host, ":"); !strings.Contains(host, "[") && !strings.Contains(host, ",") {
			p.value(ordinary, "", port) // it may be user:password without a host
		}
	}
}

// names are the parameters of addresses that have names as values.
var names = []string{"addr", "master_name", "client_name", "ca_file", "cert_file", "key_file", "username", "sentinel_username", "user", "sslmode", "sslrootcert"}

func (p *passwords) query(ordinary func(string) bool, query string) {
	for parameter := range strings.SplitSeq(query, "&") {
		name, value, is := strings.Cut(parameter, "=")
		switch {
		case !is:
			p.value(ordinary, "", name)
		case strings.Contains(name, "pass") || !slices.Contains(names, name):
			p.value(ordinary, name, value)
		}
	}
}

// value adds the value of a parameter of an address, or a text in another place of it if parameter
// is empty, as a password. It leaves out a number, a duration and a choice, unless the name of the
// parameter says that it is a secret.
func (p *passwords) value(ordinary func(string) bool, parameter, text string) {
	_, notNumber := strconv.ParseFloat(text, 64)
	_, notDuration := time.ParseDuration(text)
	_, notChoice := strconv.ParseBool(text)
	secret := strings.Contains(parameter, "pass") || strings.Contains(parameter, "token")
	if text == "" || !secret && (notNumber == nil || notDuration == nil || notChoice == nil) {
		return
	}
	if parameter != "" {
		p.parts = append(p.parts, part{parameter + "=" + text, parameter + "=" + masked})
	}
	p.add(ordinary, text)
}

// add adds a password in every form in which an error may repeat it, and its parts: lists and
// addresses are split.
func (p *passwords) add(ordinary func(string) bool, password string) {
	if password == "" {
		return
	}
	forms := []string{password, url.PathEscape(password), url.QueryEscape(password)}
	if plain, err := url.PathUnescape(password); err == nil {
		forms = append(forms, plain)
	}
	for _, form := range slices.Clone(forms) {
		quoted := strconv.Quote(form)
		forms = append(forms, quoted[1:len(quoted)-1])
		p.parts = append(p.parts, part{":" + form + "@", ":" + masked + "@"}, part{"/" + form + "@", "/" + masked + "@"})
	}
	for _, form := range slices.Clone(forms) {
		forms = append(forms, strings.FieldsFunc(form, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,/?#@&=:"'<>%\`, r) })...)
	}
	for _, form := range forms {
		digits := strings.Trim(form, "0123456789.") == ""
		if utf8.RuneCountInString(form) >= 4 && !digits && !ordinary(form) {
			p.words = append(p.words, form)
		}
	}
}

// Masked masks what [Hide] hides, and leaves all else as it is.
func Masked(s string) string {
	if p := hidden.Load(); p != nil {
		return p.mask(s)
	}
	return s
}

// mask masks the passwords in s.
func (p *passwords) mask(s string) string {
	for _, c := range p.parts {
		s = strings.ReplaceAll(s, c.text, c.masked)
	}
	for _, w := range p.words {
		s = replaceWord(s, w)
	}
	return s
}

// replaceWord masks a word where no letter or digit continues it.
func replaceWord(s, word string) string {
	if !strings.Contains(s, word) {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, word)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(word):])
		first, _ := utf8.DecodeRuneInString(word)
		last, _ := utf8.DecodeLastRuneInString(word)
		if i > 0 && continues(before, first) || i+len(word) < len(s) && continues(last, after) {
			b.WriteString(s[:i+len(word)])
		} else {
			b.WriteString(s[:i] + masked)
		}
		s = s[i+len(word):]
	}
}

func continues(a, b rune) bool { return isWord(a) && isWord(b) }

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

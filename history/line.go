package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A kindSet is a set of kinds, a bit each.
type kindSet uint16

func kindsOf(kinds ...Kind) (s kindSet) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

func (s kindSet) has(k Kind) bool { return s&(1<<k) != 0 }

// String lists the kinds.
func (s kindSet) String() string {
	var names []string
	for k := Acquire; int(k) < len(kindNames); k++ {
		if s.has(k) {
			names = append(names, k.String())
		}
	}
	return strings.Join(names, ", ")
}

// The fields of a line that only some kinds have.
var fieldKinds = map[string]kindSet{
	"late":        kindsOf(Release, Extend),
	"attempt_ns":  kindsOf(Acquire, Extend, Renew),
	"attempts":    kindsOf(Acquire),
	"intended_ns": kindsOf(Acquire),
	"asked_ns":    kindsOf(Acquire, Extend, Renew),
	"granted_ns":  kindsOf(Acquire, Extend, Renew),
	"wait_ns":     kindsOf(Acquire, Clock),
	"delay_ns":    kindsOf(Release, Probe, Clock),
	"fence":       kindsOf(Acquire, Read, Write),
	"value":       kindsOf(Read, Write, Fault, Probe, Clock),
	"version":     kindsOf(Read, Write),
	"base":        kindsOf(Write, Probe, Clock),
}

// mayGrant reports whether op set a lease, or may have.
func (op *Op) mayGrant() bool {
	return (op.Kind == Acquire || op.Kind == Extend || op.Kind == Renew) && (op.Outcome == OK || op.Outcome == Unknown)
}

// belongs reports whether op is under a hold, known or not.
func (op *Op) belongs() bool {
	if op.Kind == Acquire {
		return op.Outcome == OK
	}
	return op.Kind <= Renew
}

// into fills op from a line.
func (l *line) into(op *Op) error {
	if err := l.required(); err != nil {
		return err
	}
	key, err := l.key()
	if err != nil {
		return err
	}
	*op = Op{
		Kind: l.Op, Late: l.Late, Client: *l.Client, Process: l.Process, Stream: l.Stream,
		Key: key, Hold: valueOr(l.Hold, 0), Call: *l.CallNS, CallSeq: l.CallSeq, ReturnSeq: l.ReturnSeq,
		Intended: l.Intended, Asked: l.AskedNS, Granted: valueOr(l.GrantedNS, 0), Wait: l.WaitNS, Delay: l.DelayNS,
		Fence: l.Fence, Value: l.Value, Version: valueOr(l.Version, 0), Base: l.Base, Note: l.Note,
	}
	op.Return = valueOr(l.ReturnNS, usualReturn(op))
	op.Attempt = valueOr(l.AttemptNS, NoStamp)
	op.Attempts = valueOr(l.Attempts, usualAttempts(op.Kind))
	if op.Outcome = valueOr(l.Outcome, Unknown); op.event() {
		op.Outcome = OK
	}
	if l.GrantedNS == nil && op.mayGrant() {
		op.Granted = NotTold
	}
	for _, check := range []func(*Op) error{l.misplaced, l.stamps, l.lengths, l.answer} {
		if err := check(op); err != nil {
			return err
		}
	}
	return op.check()
}

// required returns an error if a field that every operation has is missing.
func (l *line) required() error {
	switch {
	case l.EpochNS != nil || l.Cut != nil || l.End != nil:
		return errors.New(`it has more than one of "op", "epoch_ns", "cut" and "end"; hint: one of them on each line`)
	case l.Op == 0:
		return fmt.Errorf(`it has no "op"; hint: one of %s`, kindSet(1<<len(kindNames)-2))
	case l.CallNS == nil:
		return fmt.Errorf(`the %s has no "call_ns"; hint: the stamp taken before its request left, in ns since the start of the run`, l.Op)
	case l.Client == nil:
		return fmt.Errorf(`the %s has no "client"; hint: a number for each owner`, l.Op)
	case l.Key == nil && l.KeyBytes == nil && l.Op <= Write:
		return fmt.Errorf(`the %s has no "key"; hint: "key":"" for a lock that has one key only`, l.Op)
	}
	return nil
}

// key is the lock's key.
func (l *line) key() (string, error) {
	switch {
	case l.Key == nil:
		return string(l.KeyBytes), nil
	case l.KeyBytes != nil:
		return "", fmt.Errorf(`it has "key" %q and "key_base64"; hint: key_base64 is for keys that are not UTF-8`, *l.Key)
	}
	return *l.Key, nil
}

// misplaced returns an error if the line has a field that its kind of operation cannot have.
func (l *line) misplaced(op *Op) error {
	for _, f := range [...]struct {
		name  string
		given bool
	}{
		{"late", l.Late},
		{"attempt_ns", l.AttemptNS != nil},
		{"attempts", l.Attempts != nil && *l.Attempts != 0},
		{"intended_ns", l.Intended != 0},
		{"asked_ns", l.AskedNS != 0},
		{"granted_ns", l.GrantedNS != nil},
		{"wait_ns", l.WaitNS != 0},
		{"delay_ns", l.DelayNS != 0},
		{"fence", l.Fence != 0},
		{"value", l.Value != 0},
		{"version", l.Version != nil},
		{"base", l.Base != 0},
	} {
		if f.given && !fieldKinds[f.name].has(op.Kind) {
			return fmt.Errorf(`%q is %s, which says nothing of a %s; hint: only %s may have it`, f.name, l.value(f.name), op.Kind, fieldKinds[f.name])
		}
	}
	return nil
}

// value returns the field of that name as JSON, for errors.
func (l *line) value(name string) (value string) {
	text, err := json.Marshal(l)
	if err != nil {
		return ""
	}
	_ = eachField(text, func(n, v []byte) error {
		if string(n) == name {
			value = shortened(v)
		}
		return nil
	})
	return value
}

// stamps returns an error for impossible stamps.
func (l *line) stamps(op *Op) error {
	const hint = "hint: stamps are ns since the start of the run, of one monotonic clock; a wall clock may go back"
	for _, s := range [...]struct {
		name string
		at   int64
	}{
		{"call_ns", op.Call}, {"return_ns", op.Return}, {"attempt_ns", valueOr(l.AttemptNS, 0)}, {"intended_ns", op.Intended},
	} {
		if s.at < 0 {
			return fmt.Errorf(`%q is %d, before the run began; %s`, s.name, s.at, hint)
		}
	}
	switch {
	case op.Return < op.Call:
		return fmt.Errorf(`"return_ns" is %d, before "call_ns", which is %d; %s`, op.Return, op.Call, hint)
	case op.event() && l.ReturnNS != nil && op.Return != op.Call && op.Return != Never:
		return fmt.Errorf(`"return_ns" is %d, and a %s is an event, which has "call_ns" only; hint: leave it out`, op.Return, op.Kind)
	case op.Attempt > op.Return:
		return fmt.Errorf(`"attempt_ns" is %d, after "return_ns", which is %d; hint: it is when the attempt began that succeeded`, op.Attempt, op.Return)
	case op.Intended > op.Call:
		return fmt.Errorf(`"intended_ns" is %d, after "call_ns", which is %d; hint: it is when the acquire was to begin, by a timetable`, op.Intended, op.Call)
	}
	return nil
}

// lengths returns an error for negative times and counts.
func (l *line) lengths(op *Op) error {
	for _, f := range [...]struct {
		name string
		n    int64
	}{
		{"asked_ns", l.AskedNS}, {"granted_ns", valueOr(l.GrantedNS, 0)}, {"wait_ns", l.WaitNS}, {"delay_ns", l.DelayNS},
		{"attempts", int64(op.Attempts)}, {"stream", int64(op.Stream)},
	} {
		if f.n < 0 {
			return fmt.Errorf(`%q is %d, less than nothing; hint: leave out what is not known; "granted_ns":0 is a lock without a lease`, f.name, f.n)
		}
	}
	return nil
}

// answer returns an error if a field that the outcome needs is missing.
func (l *line) answer(op *Op) error {
	hint := "hint: one of " + strings.Join(outcomeNames[1:], ", ") + ", or unknown, which accuses nobody"
	switch {
	case op.event():
		if given := valueOr(l.Outcome, OK); given != OK && given != Unknown {
			return fmt.Errorf(`"outcome" is %q, and a %s is an event, which has none; hint: leave it out`, given, op.Kind)
		}
		return nil
	case l.Outcome == nil && op.Return != Never:
		return fmt.Errorf(`it has a "return_ns", which is %d, and no "outcome"; %s`, op.Return, hint)
	case op.Outcome != Unknown && op.Return == Never:
		return fmt.Errorf(`"outcome" is %q, and there is no "return_ns"; hint: the stamp taken after the reply came; without one the outcome is unknown`, op.Outcome)
	case op.Late && op.Outcome != OK:
		return fmt.Errorf(`"late" is true, and "outcome" is %q; hint: it is of an operation that took effect`, op.Outcome)
	case l.Version == nil && op.Outcome == OK && (op.Kind == Read || op.Kind == Write):
		return fmt.Errorf(`the %s has no "version"; hint: the version of the record that it read or wrote; without versions leave reads and writes out`, op.Kind)
	}
	return nil
}

// loneSurrogate reports whether the JSON text has an escape of half a UTF-16 pair, \ud800 to
// \udfff, without its other half. Decoding maps all of these to one character, and so several keys
// to one.
func loneSurrogate(text []byte) bool {
	for i := 0; i+6 <= len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		r := escaped(text[i:])
		switch {
		case !utf16.IsSurrogate(r):
			i++ // over what is escaped
		case utf16.DecodeRune(r, escaped(text[min(i+6, len(text)):])) != utf8.RuneError:
			i += 11
		default:
			return true
		}
	}
	return false
}

// escaped returns the code of a \uXXXX escape, -1 if it is invalid.
func escaped(text []byte) rune {
	var r rune = -1
	if len(text) >= 6 && text[1] == 'u' {
		if _, err := fmt.Sscanf(string(text[2:6]), "%x", &r); err != nil {
			return -1
		}
	}
	return r
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

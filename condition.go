package lockbench

import (
	"math/bits"
	"slices"
	"strings"
)

// Conditions is a set of events that happened to a lock. Each constant is a set of one event;
// combine them with |. The zero value means that nothing went wrong.
type Conditions uint16

// The conditions, in the order in which reports show them.
const (
	Outlived Conditions = 1 << iota
	Pause
	Crash
	ThreadDeath
	LostReply
	Cancel
	Skew
	ScriptFlush
	StateLoss
	Failover
	SessionKilled
)

// ConditionInfo describes one condition.
type ConditionInfo struct {
	Condition Conditions // a set of one
	Name      string
	// Title describes it in a few words, for the row of a table; Summary in one sentence.
	Title, Summary string
}

var conditions = []ConditionInfo{
	{Outlived, "outlived", "holder outlives its lease", "an owner works on past the end of its validity; seen in the record, injected by nobody"},
	{Pause, "pause", "holder stands still", "an owner's process stands still, between its grant and what it does with it, or within a call"},
	{Crash, "crash", "process dies", "an owner dies with its whole process"},
	{ThreadDeath, "thread-death", "thread dies, process lives", "an owner dies in a process that lives on, and may renew for it"},
	{LostReply, "lost-reply", "reply is lost", "a command ran and its reply never came, or the connection broke before it was sent"},
	{Cancel, "cancel", "call is cancelled", "a call is given up by its caller, or times out, while it is under way"},
	{Skew, "skew", "clocks are off", "the clocks of clients and server differ"},
	{ScriptFlush, "script-flush", "server loses its scripts", "the server forgets the scripts that it was given"},
	{StateLoss, "state-loss", "server loses its data", "the server forgets keys: a restart without persistence, an eviction, its clock stepped ahead"},
	{Failover, "failover", "primary is lost", "a replica takes over that may not know the newest grants and releases"},
	{SessionKilled, "session-killed", "session is ended by the server", "the server, or its administrator, ends the sessions of owners that work on"},
}

// AllConditions lists every condition in the order in which reports show them.
func AllConditions() []ConditionInfo { return slices.Clone(conditions) }

// String returns the names of c joined by "+", empty for none.
func (c Conditions) String() string {
	switch bits.OnesCount16(uint16(c)) {
	case 0:
		return ""
	case 1:
		return c.name()
	}
	var names []string
	for _, one := range c.Each() {
		names = append(names, one.name())
	}
	return strings.Join(names, "+")
}

func (c Conditions) name() string {
	if i := bits.TrailingZeros16(uint16(c)); i < len(conditions) {
		return conditions[i].Name
	}
	return "invalid"
}

// Each returns the members of c as sets of one, in order.
func (c Conditions) Each() []Conditions {
	var all []Conditions
	for _, i := range conditions {
		if c&i.Condition != 0 {
			all = append(all, i.Condition)
		}
	}
	return all
}

// Has reports whether every member of other is in c.
func (c Conditions) Has(other Conditions) bool { return c&other == other }

// Count returns how many members c has.
func (c Conditions) Count() int { return bits.OnesCount16(uint16(c)) }

// Title returns a description of a few words: "process dies"; "nothing goes wrong" for the
// empty set, and "process dies, clocks are off" for more than one condition.
func (c Conditions) Title() string {
	if c == 0 {
		return "nothing goes wrong"
	}
	var titles []string
	for _, one := range c.Each() {
		titles = append(titles, conditions[bits.TrailingZeros16(uint16(one))].Title)
	}
	return strings.Join(titles, ", ")
}

// MarshalText implements encoding.TextMarshaler.
func (c Conditions) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Conditions) UnmarshalText(text []byte) (err error) {
	*c, err = parseConditions(string(text))
	return err
}

// parseConditions reads the form that [Conditions.String] writes. The error lists similar names.
func parseConditions(text string) (Conditions, error) {
	var all Conditions
	if text == "" {
		return 0, nil
	}
	for name := range strings.SplitSeq(text, "+") {
		i := slices.IndexFunc(conditions, func(i ConditionInfo) bool { return i.Name == name })
		switch {
		case i < 0 && slices.Contains(guaranteeNames(), name):
			return 0, misplaced("condition", name, "guarantee", name+"@"+Crash.String(), conditionNames())
		case i < 0:
			return 0, unknown("condition", name, conditionNames())
		}
		all |= conditions[i].Condition
	}
	return all, nil
}

func conditionNames() []string {
	var names []string
	for _, i := range conditions {
		names = append(names, i.Name)
	}
	return names
}

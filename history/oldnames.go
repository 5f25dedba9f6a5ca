package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/suggest"
)

// What headers of lockbench/history/v1 say, in the names of today. There, a guarantee was
// a promise or a fault that it is kept under, and claims were a list of these.

// oldSchema is the version of the format that had the old names.
const oldSchema = "lockbench/history/v1"

// An oldName is a guarantee of then, and the cell that puts it to the test; none for what
// is measured today.
type oldName struct {
	name string
	cell lockbench.Cell
}

var oldNames = []oldName{
	{"exclusion", lockbench.Exclusion.At(0)},
	{"overrun", lockbench.Exclusion.At(lockbench.Outlived)},
	{"owner-release", lockbench.OwnerRelease.At(lockbench.Outlived)},
	{"no-early-expiry", lockbench.LeaseKept.At(0)},
	{"recovery", lockbench.Recovery.At(lockbench.Crash)},
	{"loss-reported", lockbench.LossReported.At(lockbench.Outlived)},
	{"extend", lockbench.LeaseKept.At(0)},
	{"reentrancy", lockbench.Reentrancy.At(0)},
	{"fencing", lockbench.Fencing.At(0)},
	{"effects", lockbench.Effects.At(0)},
	{"no-spurious-refusal", lockbench.NoSpuriousRefusal.At(0)},
	{"cancel", lockbench.Recovery.At(lockbench.Cancel)},
	{"lost-reply", lockbench.Recovery.At(lockbench.LostReply)},
	{"skew", lockbench.Exclusion.At(lockbench.Skew)},
	{"script-flush", lockbench.Answers.At(lockbench.ScriptFlush)},
	{"restart", lockbench.Exclusion.At(lockbench.StateLoss)},
	{"failover", lockbench.Exclusion.At(lockbench.Failover)},
	{"release-delay", lockbench.ReleaseDelay.At(0)},
	{"fairness", lockbench.Cell{}},
}

// readOldNames reads a list of names. It refuses one that lockbench never had; the error
// lists near names.
func readOldNames(text []byte) (names []string, err error) {
	if err := json.Unmarshal(text, &names); err != nil {
		return nil, err
	}
	var known []string
	for _, o := range oldNames {
		known = append(known, o.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, unknownOld(name, known)
		}
	}
	return names, nil
}

// unknownOld is the error for a name that was none of known: it hints at near ones, and
// lists all.
func unknownOld(name string, known []string) error {
	meant := ""
	if near := suggest.Near(name, known); len(near) > 0 {
		meant = "did you mean " + strings.Join(near, ", ") + "? "
	}
	return fmt.Errorf("unknown guarantee %q; hint: %sin %s known are %s", name, meant, oldSchema, strings.Join(known, ", "))
}

// oldExercises are the cells that put these names to the test; nil for nil.
func oldExercises(names []string) []lockbench.Cell {
	if names == nil {
		return nil
	}
	cells := []lockbench.Cell{}
	for _, o := range oldNames {
		if slices.Contains(names, o.name) && o.cell != (lockbench.Cell{}) && !slices.Contains(cells, o.cell) {
			cells = append(cells, o.cell)
		}
	}
	return cells
}

// oldKeeps are the names that claim a guarantee, each of them by itself.
var oldKeeps = map[lockbench.Guarantee][]string{
	lockbench.Exclusion:         {"exclusion"},
	lockbench.LeaseKept:         {"no-early-expiry"},
	lockbench.OwnerRelease:      {"owner-release"},
	lockbench.Reentrancy:        {"reentrancy"},
	lockbench.ReleaseDelay:      {"release-delay"},
	lockbench.LossReported:      {"loss-reported"},
	lockbench.Answers:           {"script-flush", "lost-reply", "no-spurious-refusal"},
	lockbench.NoSpuriousRefusal: {"no-spurious-refusal"},
	lockbench.Recovery:          {"recovery", "lost-reply", "cancel"},
	lockbench.Fencing:           {"fencing"},
	lockbench.Effects:           {"effects"},
}

// An oldRule says what one of these names makes of guarantees that are claimed.
type oldRule struct {
	names []string
	under lockbench.Conditions
	these []lockbench.Guarantee
}

// ofFree are the guarantees that speak of keys that are free, and of what is answered;
// ofHolds are those that a server breaks that forgets a hold.
var (
	ofFree  = []lockbench.Guarantee{lockbench.Answers, lockbench.NoSpuriousRefusal, lockbench.Recovery}
	ofHolds = []lockbench.Guarantee{lockbench.Exclusion, lockbench.LeaseKept, lockbench.Fencing, lockbench.Effects}
)

// oldAlso are cells that are claimed besides, if one of the names is; without names in any
// case: a lock was held to these whatever the server forgot.
var oldAlso = []oldRule{
	{nil, lockbench.StateLoss | lockbench.Failover, ofFree},
	{nil, lockbench.StateLoss, []lockbench.Guarantee{lockbench.LossReported}},
	{[]string{"restart"}, lockbench.StateLoss, ofHolds},
	{[]string{"failover"}, lockbench.Failover, ofHolds},
}

// oldExcept are exceptions, unless one of the names is claimed.
var oldExcept = []oldRule{
	{[]string{"recovery"}, lockbench.Crash, []lockbench.Guarantee{lockbench.Recovery}},
	{[]string{"recovery"}, lockbench.ThreadDeath, []lockbench.Guarantee{lockbench.Recovery}},
	{[]string{"lost-reply"}, lockbench.LostReply,
		[]lockbench.Guarantee{lockbench.LeaseKept, lockbench.LossReported, lockbench.Recovery}},
	{[]string{"lost-reply", "no-spurious-refusal"}, lockbench.LostReply, []lockbench.Guarantee{lockbench.Answers}},
	{[]string{"cancel"}, lockbench.Cancel, []lockbench.Guarantee{lockbench.LeaseKept, lockbench.Recovery}},
	{[]string{"script-flush"}, lockbench.ScriptFlush,
		[]lockbench.Guarantee{lockbench.LossReported, lockbench.Answers, lockbench.NoSpuriousRefusal}},
}

// oldClaims are the claims that keep the meaning of these names. Of those that fit no
// cell less is claimed: extend without no-early-expiry, and what lost replies, cancels,
// restarts and failovers do to guarantees that are not in the list. overrun was broken only
// by locks that renew, and claimed nothing of others.
func oldClaims(names []string, renews bool) (c lockbench.Claims) {
	has := func(name string) bool { return slices.Contains(names, name) }
	for _, i := range lockbench.Guarantees() {
		if slices.ContainsFunc(oldKeeps[i.Name], has) {
			c.Keeps = append(c.Keeps, i.Name)
		}
	}
	if renews && has("overrun") {
		c = c.With(lockbench.Exclusion)
	}
	if c.Keeps == nil {
		return c
	}
	kept := func(these []lockbench.Guarantee) []lockbench.Guarantee {
		return slices.DeleteFunc(slices.Clone(these), func(g lockbench.Guarantee) bool { return !slices.Contains(c.Keeps, g) })
	}
	also := func(under lockbench.Conditions, these []lockbench.Guarantee) {
		for _, g := range kept(these) {
			c.Also = append(c.Also, g.At(under))
		}
	}
	c.Survives = lockbench.Survivable
	if !has("skew") {
		c.Survives &^= lockbench.Skew
		also(lockbench.Skew, ofFree)
	}
	for _, r := range oldAlso {
		if r.names == nil || slices.ContainsFunc(r.names, has) {
			also(r.under, r.these)
		}
	}
	for _, r := range oldExcept {
		if gives := kept(r.these); !slices.ContainsFunc(r.names, has) && len(gives) > 0 {
			c.Except = append(c.Except, lockbench.Exception{Gives: gives, Under: r.under})
		}
	}
	if renews && has("overrun") {
		c = c.Renewing()
	}
	return c
}

// headerFields are the fields of a header of today.
type headerFields Header

// oldHeader are those of [oldSchema]: its claims and exercises are names.
type oldHeader struct {
	*headerFields
	Claims    json.RawMessage `json:"claims"`
	Exercises json.RawMessage `json:"exercises"`
}

// schemaOf is what a header says it is of, empty where that cannot be read.
func schemaOf(text []byte) string {
	var header struct{ Schema string }
	if json.Unmarshal(text, &header) != nil {
		return ""
	}
	return header.Schema
}

// readHeader reads a header into h, which begins as what a header that says nothing says.
// One of [oldSchema] becomes one of today. decode reads text, or says why not.
func readHeader(text []byte, h *Header, decode func(text []byte, into any) error) error {
	schema := schemaOf(text)
	if otherDocument(schema) {
		return noHistory(schema)
	}
	if schema != oldSchema {
		if err := decode(text, (*headerFields)(h)); err != nil {
			return err
		}
		return errors.Join(checkSchema(h.Schema), checkWakes(h.WakesNS))
	}
	old := oldHeader{headerFields: (*headerFields)(h)}
	if err := decode(text, &old); err != nil {
		return err
	}
	h.Schema, h.Translated = Schema, old.Claims != nil || old.Exercises != nil
	if old.Claims != nil {
		names, err := readOldNames(old.Claims)
		if err != nil {
			return fmt.Errorf("claims: %w", err)
		}
		h.Claims = oldClaims(names, h.Renews)
	}
	if old.Exercises != nil {
		names, err := readOldNames(old.Exercises)
		if err != nil {
			return fmt.Errorf("exercises: %w", err)
		}
		h.Exercises = oldExercises(names)
	}
	return nil
}

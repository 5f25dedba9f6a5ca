package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
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
			return nil, fmt.Errorf("unknown guarantee %q; hint: known are %s", name, strings.Join(known, ", "))
		}
	}
	return names, nil
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

// oldClaims are the claims that keep the meaning of these names. Of those that fit no
// cell less is claimed: extend without no-early-expiry, and what lost replies, cancels,
// restarts and failovers do to guarantees that are not in the list. overrun was broken only
// by locks that renew, and claimed nothing of others.
func oldClaims(names []string, renews bool) lockbench.Claims {
	has := func(name string) bool { return slices.Contains(names, name) }
	either := func(some ...string) bool { return slices.ContainsFunc(some, has) }
	keeps := map[lockbench.Guarantee]bool{
		lockbench.Exclusion:         has("exclusion") || renews && has("overrun"),
		lockbench.LeaseKept:         has("no-early-expiry"),
		lockbench.OwnerRelease:      has("owner-release"),
		lockbench.Reentrancy:        has("reentrancy"),
		lockbench.ReleaseDelay:      has("release-delay"),
		lockbench.LossReported:      has("loss-reported"),
		lockbench.Answers:           either("script-flush", "lost-reply", "no-spurious-refusal"),
		lockbench.NoSpuriousRefusal: has("no-spurious-refusal"),
		lockbench.Recovery:          either("recovery", "lost-reply", "cancel"),
		lockbench.Fencing:           has("fencing"),
		lockbench.Effects:           has("effects"),
	}
	var c lockbench.Claims
	for _, i := range lockbench.Guarantees() {
		if keeps[i.Name] {
			c.Keeps = append(c.Keeps, i.Name)
		}
	}
	if c.Keeps == nil {
		return c
	}
	c.Survives = lockbench.Survivable
	also := func(under lockbench.Conditions, these ...lockbench.Guarantee) {
		for _, g := range these {
			if keeps[g] {
				c.Also = append(c.Also, g.At(under))
			}
		}
	}
	without := func(claimed bool, under lockbench.Conditions, these ...lockbench.Guarantee) {
		these = slices.DeleteFunc(these, func(g lockbench.Guarantee) bool { return !keeps[g] })
		if !claimed && len(these) > 0 {
			c.Except = append(c.Except, lockbench.Exception{Gives: these, Under: under})
		}
	}
	if !has("skew") {
		c.Survives &^= lockbench.Skew
		also(lockbench.Skew, lockbench.Answers, lockbench.NoSpuriousRefusal, lockbench.Recovery)
	}
	forgotten := []lockbench.Guarantee{lockbench.Exclusion, lockbench.LeaseKept, lockbench.Fencing, lockbench.Effects}
	// What it answers, and what it says of keys that are free, was held to whatever the server
	// forgot.
	also(lockbench.StateLoss|lockbench.Failover, lockbench.Answers, lockbench.NoSpuriousRefusal, lockbench.Recovery)
	also(lockbench.StateLoss, lockbench.LossReported)
	if has("restart") {
		also(lockbench.StateLoss, forgotten...)
	}
	if has("failover") {
		also(lockbench.Failover, forgotten...)
	}
	without(has("recovery"), lockbench.Crash, lockbench.Recovery)
	without(has("recovery"), lockbench.ThreadDeath, lockbench.Recovery)
	without(has("lost-reply"), lockbench.LostReply, lockbench.LeaseKept, lockbench.LossReported, lockbench.Recovery)
	without(either("lost-reply", "no-spurious-refusal"), lockbench.LostReply, lockbench.Answers)
	without(has("cancel"), lockbench.Cancel, lockbench.LeaseKept, lockbench.Recovery)
	without(has("script-flush"), lockbench.ScriptFlush, lockbench.LossReported, lockbench.Answers, lockbench.NoSpuriousRefusal)
	if renews && has("overrun") {
		also(lockbench.Outlived, lockbench.Exclusion)
		for _, under := range (lockbench.Pause | lockbench.Crash | lockbench.ThreadDeath | lockbench.ScriptFlush | lockbench.StateLoss | lockbench.Failover).Each() {
			without(false, lockbench.Outlived|under, lockbench.Exclusion)
		}
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

// readHeader reads a header into h, which begins as what a header that says nothing says.
// One of [oldSchema] becomes one of today. decode reads text, or says why not.
func readHeader(text []byte, h *Header, decode func(text []byte, into any) error) error {
	var version struct{ Schema string }
	if err := json.Unmarshal(text, &version); err != nil || version.Schema != oldSchema {
		if err := decode(text, (*headerFields)(h)); err != nil {
			return err
		}
		return checkSchema(h.Schema)
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

package impls_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/impls"
)

func TestControlsAreNoDesigns(t *testing.T) {
	for _, d := range impls.Controls() {
		if slices.Contains(impls.Names(), d.Name) || len(d.Claims.Keeps) > 0 || d.Explorable() == nil || d.Control == "" {
			t.Errorf("%s: %+v; want no design of All, without claims, live only", d.Name, d)
		}
	}
}

func TestMatchRunTakesControlsByNameAlone(t *testing.T) {
	for asked, want := range map[string]string{
		"control/atomic":                   "control/atomic",
		"control/no-lock,watch-multi/poll": "watch-multi/poll,control/no-lock",
		"*/poll":                           "watch-multi/poll",
		"control/atomic,control/no-lock,*/naive*": "setnx-getset/naive,control/no-lock,control/atomic",
	} {
		found, err := impls.MatchRun(strings.Split(asked, ",")...)
		var names []string
		for _, d := range found {
			names = append(names, d.Name)
		}
		if got := strings.Join(names, ","); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", asked, got, err, want)
		}
	}
	if all, err := impls.MatchRun("*/*"); err != nil || len(all) != len(impls.All()) {
		t.Errorf("all: %d, %v; want no control among them", len(all), err)
	}
	if _, err := impls.Match("control/no-lock"); err == nil || !strings.Contains(err.Error(), "no lock: it grants to everybody") || !strings.Contains(err.Error(), "hint: lockbench run --design control/no-lock") {
		t.Errorf("where only locks are meant: got %v, want what a control is, and the command that runs it", err)
	}
	if _, err := impls.MatchRun("control/nolock"); err == nil || !strings.Contains(err.Error(), "control/no-lock") {
		t.Errorf("got %v, want the control that resembles it", err)
	}
}

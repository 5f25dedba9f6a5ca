package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const set = "SET {key} {token} NX PX {ttl_ms}"

// TestParse checks how texts are split, and which values placeholders get.
func TestParse(t *testing.T) {
	script := filepath.Join(t.TempDir(), "free.lua")
	if err := os.WriteFile(script, []byte("return {found, '{key}'}"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := values{key: "k", token: "t", ttl: 1500 * time.Millisecond, now: func() time.Time { return time.UnixMilli(7) }}
	for text, want := range map[string][][]any{
		set: {{"SET", "k", "t", "NX", "PX", "1500"}},
		"SETNX {key} '{token} x'; EXPIRE {key} {ttl_s}":  {{"SETNX", "k", "t x"}, {"EXPIRE", "k", "2"}},
		`SET "a\"{key}" 'b\' \; {now_ms}`:                {{"SET", `a"k`, `b\`, ";", "7"}},
		"EVAL @" + script + " 1 {key} ''":                {{"EVAL", "return {found, '{key}'}", "1", "k", ""}},
		"GET {key} => {token}":                           {{"GET", "k"}},
		"EVAL 'return {redis.call(\"GET\", {1})}' {key}": {{"EVAL", `return {redis.call("GET", {1})}`, "k"}},
	} {
		all, err := parseText("take", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got [][]any
		for _, c := range all {
			got = append(got, c.filled(v))
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", text, diff)
		}
	}
}

// TestErrors checks that a wrong text is an error that names it, the reason and a hint.
func TestErrors(t *testing.T) {
	for want, texts := range map[string]Texts{
		`--take "": a command is empty`:               {"", "DEL {key}", ""},
		`a command is empty; hint: `:                  {set + ";", "DEL {key}", ""},
		`{key} is missing, so that all locks`:         {"SET lock {token}", "DEL {key}", ""},
		`--free "DEL lock": {key} is missing`:         {set, "DEL lock", ""},
		`unknown placeholder "tokn"`:                  {"SET {key} {tokn}", "DEL {key}", ""},
		`a script with braces of its own can be a`:    {set, "EVAL 'return {found}' 1 {key}", ""},
		`{ttl_ms}: a lock is freed without a lease`:   {set, "PEXPIRE {key} {ttl_ms}", ""},
		`a quote does not end`:                        {"SET {key} 'x", "DEL {key}", ""},
		`the last backslash does not end`:             {`SET {key} x\`, "DEL {key}", ""},
		`no reply follows =>`:                         {"SET {key} x =>", "DEL {key}", ""},
		`"NX" follows the reply`:                      {"SET {key} x => OK NX", "DEL {key}", ""},
		`no such file`:                                {set, "EVAL @nowhere.lua 1 {key}", ""},
		`--extend "PEXPIRE {kye} 1": unknown placeho`: {set, "DEL {key}", "PEXPIRE {kye} 1"},
	} {
		_, err := texts.Parse()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("%+v: got %v, want %q and a hint", texts, err, want)
		}
	}
}

// TestSays checks which replies say yes.
func TestSays(t *testing.T) {
	for _, c := range []struct {
		yes   string
		reply any
		want  bool
	}{
		{"", nil, false}, {"", int64(0), false}, {"", int64(-1), false}, {"", int64(2), true},
		{"", "OK", true}, {"", "", false}, {"", []any{}, false}, {"", []any{nil}, true}, {"", true, true}, {"", false, false},
		{"nil", nil, true}, {"nil", "OK", false}, {"0", int64(0), true}, {"OK", "OK", true}, {"{token}", "t", true}, {"{token}", "u", false},
	} {
		if got := (&command{Yes: c.yes}).says(c.reply, values{token: "t"}); got != c.want {
			t.Errorf("%v => %q: got %v", c.reply, c.yes, got)
		}
	}
}

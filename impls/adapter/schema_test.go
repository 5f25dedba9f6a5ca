//go:build unix

package adapter_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench/impls/adapter"
)

// published returns the schema of the messages.
func published(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("../../docs/adapter.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(s *jsonschema.Schema, line string) error {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// TestSchema validates what a check and an adapter say to each other, and the examples of the document,
// and refuses wrong messages.
func TestSchema(t *testing.T) {
	s := published(t)
	dir := t.TempDir()
	t.Setenv(logVariable, dir)
	if _, _, err := adapter.Check(t.Context(), fake(t, "sound"), on(t)); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(logs) < 5 {
		t.Fatalf("%d logs, error %v", len(logs), err)
	}
	said := map[string]bool{}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if err := valid(s, string(line)); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			for _, word := range []string{`"servers"`, `"name"`, `"acquire"`, `"extend"`, `"ttl"`, `"stop"`, `"ok"`, `"error"`} {
				said[word] = said[word] || bytes.Contains(line, []byte(word))
			}
		}
	}
	for word, is := range said {
		if !is {
			t.Errorf("no message has %s", word)
		}
	}
	document, err := os.ReadFile("../../docs/adapter-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?m)^(\\{.*\\})$|`(\\{\"(?:lost|renewed|cancel|stop)\".*?\\})`").FindAllStringSubmatch(string(document), -1)
	if len(examples) < 10 {
		t.Errorf("%d examples in the document, want 10 or more", len(examples))
	}
	for _, e := range examples {
		if err := valid(s, e[1]+e[2]); err != nil {
			t.Errorf("%s: %v", e[1]+e[2], err)
		}
	}
	for _, wrong := range []string{`{}`, `{"id":1}`, `{"id":0,"ok":{}}`, `{"id":1,"ok":{},"error":"refused"}`, `{"hello":1}`, `{"id":1,"owner":1,"op":"acquire"}`, `{"id":1,"ok":{"fence":7}}`, `{"hello":1,"name":"x","renews":"maybe"}`} {
		if valid(s, wrong) == nil {
			t.Errorf("%s is valid", wrong)
		}
	}
}

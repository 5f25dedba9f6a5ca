package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench/internal/lib/runfile"
)

var updateSchema = flag.Bool("update-schema", false, "rewrite internal/lib/runfile/schema/run-file-v1.json")

const schemaFile = "../../internal/lib/runfile/schema/run-file-v1.json"

// TestRunFileSchemaIsFresh asserts that the published schema has the present flags
// of run.
func TestRunFileSchemaIsFresh(t *testing.T) {
	want, err := runfile.Schema(runFileKeys(newRun().Flags()))
	if err != nil {
		t.Fatal(err)
	}
	if *updateSchema {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(got), "\n"), strings.Split(string(want), "\n")); diff != "" {
		t.Errorf("the schema of run files is not that of the flags of run; go test ./cmd/lockbench -run Schema -update-schema writes it (-got +want):\n%s", diff)
	}
}

// TestRunFileSchemaAgrees asserts that the schema accepts the files that a run
// accepts, and refuses those that it refuses, as far as editors can tell.
func TestRunFileSchemaAgrees(t *testing.T) {
	schema := compiledSchema(t)
	for _, c := range []struct {
		name, text string
		valid      bool
	}{
		{"as people write it", "design: [lua-token/*, redislock/obtain]\nworkload: redeem\nclients: 8\nttl: 500ms\nhold: lognormal:5ms,0.8\nslow: 0.1\nquiet: true\nseed: 7", true},
		{"single values for lists", "design: lua-token/*,redsync/single\nguard: none,cas\nfault: crash,p=0.01\nout: json=x.json", true},
		{"mappings", "fault:\n  - crash\n  - lost-reply: {p: 0.01, while: held}\nout:\n  json: [a.json, b.json]\n  hgrm: percentiles", true},
		{"zeros without units", "wait: 0\nduration: 0\noperations: 100\nhold: 0\nthink: 1h2m3.5s", true},
		{"distributions", "hold: uniform:1ms-5ms\nthink: exp:5ms", true},
		{"misspelt key", "clinets: 8", false},
		{"misspelt design", "design: [lua-token/tokn]", false},
		{"misspelt workload", "workload: oversel", false},
		{"misspelt fault", "fault: [lost-repli]", false},
		{"misspelt fault with settings", "fault: [lost-repli: {p: 1}]", false},
		{"misspelt output", "out: {jsn: x}", false},
		{"misspelt key choice", "key-choice: unifrom", false},
		{"misspelt guard", "guard: [fnce]", false},
		{"number that is none", "clients: many", false},
		{"negative seed", "seed: -1", false},
		{"duration without unit", "ttl: 2", false},
		{"duration of another unit", "ttl: 2 seconds", false},
		{"distribution that is none", "hold: expo:1ms", false},
		{"list for one value", "workload: [oversell]", false},
		{"empty list", "design: []", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := runfile.Read("s.yaml", []byte(c.text), runFileKeys(newRun().Flags()))
			if got := err == nil; got != c.valid {
				t.Errorf("valid: got %v, want %v: %v", got, c.valid, err)
			}
			err = schema.Validate(asJSON(t, c.text))
			if got := err == nil; got != c.valid {
				t.Errorf("valid under the schema: got %v, want %v: %v", got, c.valid, err)
			}
		})
	}
}

// TestEveryFlagIsAKey asserts that each flag of run describes itself in the schema.
func TestEveryFlagIsAKey(t *testing.T) {
	for _, k := range runFileKeys(newRun().Flags()) {
		if len(k.Help) < 10 {
			t.Errorf("key %s: help %q", k.Name, k.Help)
		}
	}
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	described, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(runfile.SchemaURL, described); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(runfile.SchemaURL)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// asJSON converts a YAML text to JSON as editors do to check it against a schema.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(converted))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

package main

import (
	"bytes"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench/reports"
)

// published are the schemas of what the command writes as JSON.
var published = [][]byte{reports.JSONSchema, reports.MatrixJSONSchema, reports.ComparisonJSONSchema, reports.LimitJSONSchema}

// schema validates a JSON file by the published schema that it names, closed: it may have no
// field that is not described, schema result.json.
func schema(ts *testscript.TestScript, _ bool, args []string) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	name, _ := doc.(map[string]any)["schema"].(string)
	compiler, url := jsonschema.NewCompiler(), ""
	for _, text := range published {
		described, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		ts.Check(err)
		closeObjects(described)
		root := described.(map[string]any)
		id := root["$id"].(string)
		ts.Check(compiler.AddResource(id, described))
		if root["properties"].(map[string]any)["schema"].(map[string]any)["const"] == name {
			url = id
		}
	}
	if url == "" {
		ts.Fatalf("%s: no schema is published for %q", args[0], name)
	}
	s, err := compiler.Compile(url)
	ts.Check(err)
	ts.Check(s.Validate(doc))
}

// closeObjects forbids undescribed fields wherever fields are described.
func closeObjects(node any) {
	switch n := node.(type) {
	case map[string]any:
		if _, described := n["properties"]; described && n["type"] == "object" {
			n["additionalProperties"] = false
		}
		for _, child := range n {
			closeObjects(child)
		}
	case []any:
		for _, child := range n {
			closeObjects(child)
		}
	}
}

package main

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench/internal/schematest"
	"github.com/lockbench/lockbench/reports"
)

// published are the schemas of what the command writes as JSON, each after those that it
// refers to.
var published = map[string][][]byte{
	reports.Schema:           {reports.JSONSchema},
	reports.MatrixSchema:     {reports.JSONSchema, reports.MatrixJSONSchema},
	reports.ComparisonSchema: {reports.ComparisonJSONSchema},
	reports.LimitSchema:      {reports.JSONSchema, reports.LimitJSONSchema},
}

// schema validates a JSON file by the published schema that it names, closed: it may have no
// field that is not described, schema result.json.
func schema(ts *testscript.TestScript, _ bool, args []string) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	name, _ := doc.(map[string]any)["schema"].(string)
	if published[name] == nil {
		ts.Fatalf("%s: no schema is published for %q", args[0], name)
	}
	s, err := schematest.Compile(true, published[name]...)
	ts.Check(err)
	ts.Check(s.Validate(doc))
}

package main

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench/internal/testkit/schematest"
	"github.com/lockbench/lockbench/reports"
)

// schema validates a JSON file against the published schema in its closed form, without
// fields that are not described: schema result.json.
func schema(ts *testscript.TestScript, _ bool, args []string) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	s, err := schematest.Compile(true, reports.JSONSchema)
	ts.Check(err)
	ts.Check(s.Validate(doc))
}

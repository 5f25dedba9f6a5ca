package schematest

import (
	"bytes"
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compile readies the last of some published schemas, which may refer to the others by their
// $id. Published schemas are open, so that a field added later breaks no validation;
// closed, they take no field that they do not describe.
func Compile(closed bool, texts ...[]byte) (*jsonschema.Schema, error) {
	compiler, id := jsonschema.NewCompiler(), ""
	for _, text := range texts {
		described, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		if closed {
			closeObjects(described)
		}
		root, _ := described.(map[string]any)
		if id, _ = root["$id"].(string); id == "" {
			return nil, errors.New("a schema has no $id")
		}
		if err := compiler.AddResource(id, described); err != nil {
			return nil, err
		}
	}
	return compiler.Compile(id)
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

package runfile

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// SchemaURL is the URL of the published schema, for editors.
const SchemaURL = "https://raw.githubusercontent.com/lockbench/lockbench/main/internal/lib/runfile/schema/run-file-v1.json"

// schemaID identifies the schema, like the IDs of the schemas of results.
const schemaID = "https://github.com/lockbench/lockbench/internal/lib/runfile/schema/run-file-v1.json"

// Patterns of values, in the regular expressions of JSON Schema.
const (
	aDuration = `([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)`
	durations = `(` + aDuration + `)+`
	spread    = `(uniform:` + durations + `-` + durations + `|exp:` + durations + `|lognormal:(median=)?` + durations + `,(sigma=)?[0-9.]+)`
)

// object is a JSON object.
type object = map[string]any

// Schema returns the JSON Schema of a run file with these keys, for editors: it has
// names, types and valid values. A file that is valid under it may still be refused,
// for settings that contradict each other; a file that [Read] accepts is valid,
// except for numbers in quotes, which need none. It is of draft 7, which every editor
// reads.
func Schema(keys []Key) ([]byte, error) {
	properties, definitions := object{}, object{
		"duration":     orZero(durations),
		"distribution": orZero(durations + `|` + spread),
		"scalar":       object{"type": []string{"string", "number", "boolean"}},
		"settings": object{"anyOf": []object{
			{"type": []string{"string", "number", "boolean", "null"}},
			{"type": "array", "minItems": 1, "items": refer("scalar")},
			{"type": "object", "additionalProperties": refer("scalar")},
		}},
	}
	for _, k := range keys {
		if k.List || k.Joined {
			definitions[k.Name] = item(k)
		}
		properties[k.Name] = property(k)
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(object{
		"$schema":              "http://json-schema.org/draft-07/schema#",
		"$id":                  schemaID,
		"title":                "lockbench run file",
		"description":          "Settings of lockbench run. Each key is a flag of it, and flags on the command line come first.",
		"type":                 "object",
		"minProperties":        1,
		"properties":           properties,
		"additionalProperties": false,
		"definitions":          definitions,
	})
	return text.Bytes(), err
}

func refer(definition string) object { return object{"$ref": "#/definitions/" + definition} }

func property(k Key) object {
	p := shape(k)
	p["description"] = k.Help
	if d, ok := defaultOf(k); ok {
		p["default"] = d
	}
	return p
}

// shape describes one value or, if the key takes a list, one value or a list.
// References are in allOf, since draft 7 ignores all keywords beside a reference.
func shape(k Key) object {
	switch {
	case k.List || k.Joined:
		one := refer(k.Name)
		return object{"anyOf": []object{one, {"type": "array", "minItems": 1, "items": one}}}
	case k.Type == Duration:
		return object{"allOf": []object{refer("duration")}}
	case k.Type == Distribution:
		return object{"allOf": []object{refer("distribution")}}
	}
	return value(k)
}

// item is one value of a list, or several pairs.
func item(k Key) object {
	if k.Pair == "" {
		return value(k)
	}
	return object{"anyOf": []object{value(k), mapping(k)}}
}

func value(k Key) object {
	switch k.Type {
	case Boolean:
		return object{"type": "boolean"}
	case Integer:
		return object{"type": "integer"}
	case Count:
		return object{"type": "integer", "minimum": 0}
	case Number:
		return object{"type": "number"}
	case Scalar:
		return object{"type": []string{"string", "number"}}
	}
	return text(k)
}

// orZero accepts a text of the pattern, or the number 0, which needs no unit.
func orZero(pattern string) object {
	return object{"type": []string{"string", "integer"}, "pattern": "^(0|" + pattern + ")$", "minimum": 0, "maximum": 0}
}

// text accepts one of the known texts; a pair begins with one.
func text(k Key) object {
	switch {
	case len(k.Known) == 0:
		return object{"type": "string"}
	case k.Pair != "":
		quoted := make([]string, len(k.Known))
		for i, name := range k.Known {
			quoted[i] = regexp.QuoteMeta(name)
		}
		begins := "^(" + strings.Join(quoted, "|") + ")([,=].*)?$"
		return object{"type": "string", "anyOf": []object{{"enum": k.Known}, {"pattern": begins}}}
	case k.Patterns || k.Commas:
		return object{"type": "string", "anyOf": []object{{"enum": k.Known}, {"pattern": `[*?\[,]`}}}
	}
	return object{"enum": k.Known}
}

// mapping accepts a name with its value, several of them, or settings of its own.
func mapping(k Key) object {
	names := object{"type": "object", "minProperties": 1, "additionalProperties": refer("settings")}
	if len(k.Known) > 0 {
		properties := object{}
		for _, name := range k.Known {
			properties[name] = refer("settings")
		}
		names["properties"], names["additionalProperties"] = properties, false
	}
	return names
}

// defaultOf returns the default in the form in which the schema writes values of the
// type.
func defaultOf(k Key) (any, bool) {
	switch k.Type {
	case Boolean:
		b, err := strconv.ParseBool(k.Default)
		return b, err == nil
	case Integer, Count, Number:
		return json.Number(k.Default), k.Default != ""
	}
	return k.Default, k.Default != "" && !k.List
}

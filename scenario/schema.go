package scenario

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// SchemaURL is where the schema is published, for editors to find.
const SchemaURL = "https://raw.githubusercontent.com/lockbench/lockbench/main/scenario/schema/scenario-v1.json"

// schemaID names the schema, like those of results.
const schemaID = "https://github.com/lockbench/lockbench/scenario/schema/scenario-v1.json"

// Patterns of values, in the regular expressions of JSON Schema.
const (
	aDuration = `([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)`
	durations = `(` + aDuration + `)+`
	spread    = `(uniform:` + durations + `-` + durations + `|exp:` + durations + `|lognormal:(median=)?` + durations + `,(sigma=)?[0-9.]+)`
)

// object is a JSON object.
type object = map[string]any

// Schema is the JSON Schema of a scenario file with these keys, for editors: it knows
// names, types and the values that there are. What is valid under it may still be
// refused, for settings that contradict each other; what [Read] accepts is valid but
// for values in quotes that need none.
func Schema(keys []Key) ([]byte, error) {
	properties := object{}
	for _, k := range keys {
		properties[k.Name] = property(k)
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(object{
		"$schema":              "http://json-schema.org/draft-07/schema#",
		"$id":                  schemaID,
		"title":                "lockbench scenario",
		"description":          "Settings of lockbench run. Each key is a flag of it, and flags on the command line come first.",
		"type":                 "object",
		"minProperties":        1,
		"properties":           properties,
		"additionalProperties": false,
	})
	return text.Bytes(), err
}

func property(k Key) object {
	p := shape(k)
	p["description"] = k.Help
	if d, ok := defaultOf(k); ok {
		p["default"] = d
	}
	return p
}

// shape is one value, or where a list may stand either.
func shape(k Key) object {
	if !k.List && !k.Joined {
		return value(k)
	}
	one := forms(k)
	list := object{"type": "array", "minItems": 1, "items": anyOf(one)}
	return anyOf(append(one, list))
}

// forms are the ways to write one value of a list.
func forms(k Key) []object {
	all := []object{value(k)}
	if k.Pair != "" {
		all = append(all, mapping(k))
	}
	return all
}

func anyOf(forms []object) object {
	if len(forms) == 1 {
		return forms[0]
	}
	return object{"anyOf": forms}
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
	case Duration:
		return orZero(durations)
	case Distribution:
		return orZero(durations + `|` + spread)
	}
	return text(k)
}

// orZero is a text of the pattern, or the number 0, which needs no unit.
func orZero(pattern string) object {
	return object{"type": []string{"string", "integer"}, "pattern": "^(0|" + pattern + ")$", "minimum": 0, "maximum": 0}
}

// text is one of those that are known; a pair begins with one.
func text(k Key) object {
	switch {
	case len(k.Known) == 0:
		return object{"type": "string"}
	case k.Pair != "":
		quoted := make([]string, len(k.Known))
		for i, name := range k.Known {
			quoted[i] = regexp.QuoteMeta(name)
		}
		return object{"type": "string", "pattern": "^(" + strings.Join(quoted, "|") + ")([,=].*)?$"}
	case k.Patterns || k.Commas:
		return object{"type": "string", "anyOf": []object{{"enum": k.Known}, {"pattern": `[*?\[,]`}}}
	}
	return object{"enum": k.Known}
}

// mapping is a name with its value, several of them, or settings of its own.
func mapping(k Key) object {
	scalar := object{"type": []string{"string", "number", "boolean"}}
	entry := object{"anyOf": []object{
		{"type": []string{"string", "number", "boolean", "null"}},
		{"type": "array", "minItems": 1, "items": scalar},
		{"type": "object", "additionalProperties": scalar},
	}}
	if len(k.Known) == 0 {
		return object{"type": "object", "minProperties": 1, "additionalProperties": entry}
	}
	properties := object{}
	for _, name := range k.Known {
		properties[name] = entry
	}
	return object{"type": "object", "minProperties": 1, "properties": properties, "additionalProperties": false}
}

// defaultOf is the default as the schema writes values of the type.
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

package runfile

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// values returns the values of a key.
func (r *reader) values(k Key, n ast.Node) []Value {
	list, isList := n.(*ast.SequenceNode)
	if !isList {
		return split(k, r.item(k, n))
	}
	if !k.List && !k.Joined {
		r.complain(place(n), "%s takes one value, not a list; hint: %s: VALUE", k.Name, k.Name)
		return nil
	}
	var all []Value
	for _, item := range r.items(k, list) {
		all = append(all, r.item(k, item)...)
	}
	if k.Joined && len(all) > 0 {
		all = []Value{{Text: strings.Join(texts(all), ","), At: all[0].At}}
	}
	return all
}

// items returns the items of a list, which must not be empty.
func (r *reader) items(k Key, list *ast.SequenceNode) []ast.Node {
	if len(list.Values) == 0 {
		r.complain(place(list), "%s has an empty list; hint: leave the key out for its default", k.Name)
	}
	return list.Values
}

// split splits a text that holds several values.
func split(k Key, whole []Value) (all []Value) {
	if !k.Commas {
		return whole
	}
	for _, v := range whole {
		for text := range strings.SplitSeq(v.Text, ",") {
			all = append(all, Value{Text: strings.TrimSpace(text), At: v.At})
		}
	}
	return all
}

// item returns one item of a list, or the value in place of a list of one: a scalar, or
// a mapping of names to values if the values are pairs.
func (r *reader) item(k Key, n ast.Node) []Value {
	entries, isMapping := pairs(n)
	switch {
	case !isMapping:
		if text, ok := r.scalar(k, n); ok {
			return []Value{{Text: text, At: place(n)}}
		}
		return nil
	case k.Pair == "" || len(entries) == 0:
		r.complain(place(n), "%s takes %s, not a mapping; hint: quote a text that has a colon and a blank, or braces", k.Name, k.takes())
		return nil
	}
	var all []Value
	for _, e := range entries {
		all = append(all, r.paired(k, e)...)
	}
	return all
}

// paired converts an entry of a mapping into the texts that it stands for: name,
// name=value, one for each value of a list, or name,setting=value,... for settings.
func (r *reader) paired(k Key, e *ast.MappingValueNode) (all []Value) {
	name, at := e.Key.GetToken().Value, place(e.Key)
	settings, isMapping := pairs(e.Value)
	list, isList := e.Value.(*ast.SequenceNode)
	switch {
	case e.Value.Type() == ast.NullType:
		return []Value{{Text: name, At: at}}
	case isMapping:
		text := name
		for _, s := range settings {
			value, _ := r.scalar(k, s.Value)
			text += "," + s.Key.GetToken().Value + k.Pair + value
		}
		return []Value{{Text: text, At: at}}
	case isList:
		for _, item := range r.items(k, list) {
			value, _ := r.scalar(k, item)
			all = append(all, Value{Text: name + k.Pair + value, At: place(item)})
		}
		return all
	}
	value, _ := r.scalar(k, e.Value)
	return []Value{{Text: name + k.Pair + value, At: at}}
}

// scalar returns the text of a single value as it is written, without YAML's
// interpretation; the key interprets it.
func (r *reader) scalar(k Key, n ast.Node) (text string, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	case *ast.NullNode:
		r.complain(place(n), "%s has no value; hint: give it one, or leave the key out", k.Name)
	case *ast.AliasNode:
		r.complain(place(n), "a value that begins with * must be quoted; hint: '*/poll'")
	case *ast.AnchorNode:
		r.complain(place(n), "anchors are not supported; hint: quote a value that begins with &")
	default:
		r.complain(place(n), "%s takes %s, not a %s; hint: quote a text that YAML reads as another type", k.Name, k.takes(), strings.ToLower(n.Type().String()))
	}
	return "", false
}

// check checks whether a value is valid for its key. A fault that the type alone
// explains is reported in the words of the type.
func (r *reader) check(k Key, v Value) {
	if err := k.known(v.Text); err != nil {
		r.complain(v.At, "%w", err)
		return
	}
	if k.Check == nil {
		return
	}
	err := k.Check(v.Text)
	what, example, simple := k.Type.Takes()
	switch {
	case err == nil:
	case simple && k.List:
		r.complain(v.At, "%s %q: it takes %s; hint: such as %s, or a list: [1, 8, 64]", k.Name, v.Text, what, example)
	case simple:
		r.complain(v.At, "%s %q: it takes %s; hint: such as %s", k.Name, v.Text, what, example)
	default:
		r.complain(v.At, "%w", err)
	}
}

// pairs returns the entries of a mapping; false for anything else.
func pairs(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

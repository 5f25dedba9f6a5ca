package runfile

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// ReadList reads the text of a file that is a list of mappings, each with all of these keys. An
// empty file is an empty list. Its errors are like those from [Read].
func ReadList(name string, text []byte, keys []Key) (items []Item, err error) {
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	r := reader{file: name, keys: keys, others: "keys are " + strings.Join(names, ", ")}
	body, ok := r.document(text)
	if !ok || body == nil {
		return nil, r.failed()
	}
	list, isList := body.(*ast.SequenceNode)
	if !isList {
		r.complain(place(body), "it is not a list; hint: begin each item with a dash: - %s: ...", names[0])
		return nil, r.failed()
	}
	for _, n := range list.Values {
		items = append(items, r.listed(n))
	}
	return items, r.failed()
}

// An Item is one mapping of a list.
type Item struct {
	At Position
	// Values has the text of each key.
	Values map[string]string
}

// listed reads one item, which must have all keys.
func (r *reader) listed(n ast.Node) Item {
	item := Item{At: place(n), Values: make(map[string]string)}
	entries, ok := pairs(n)
	if !ok {
		r.complain(item.At, "%s: an item of the list is a mapping; hint: %s", n.GetToken().Value, r.others)
		return item
	}
	had := make(map[string]bool)
	for _, e := range entries {
		had[e.Key.GetToken().Value] = true
	}
	for _, s := range r.settings(entries).Settings {
		item.Values[s.Key.Name] = s.Values[0].Text
	}
	for _, k := range r.keys {
		if !had[k.Name] {
			r.complain(item.At, "it has no %s; hint: %s", k.Name, k.Help)
		}
	}
	return item
}

package history

// Exports for the tests of the published format.
var LineType = lineType

// FieldKinds reports whether k has each of the fields that only some kinds have.
func FieldKinds(k Kind) map[string]bool {
	has := map[string]bool{}
	for field, kinds := range fieldKinds {
		has[field] = kinds.has(k)
	}
	return has
}

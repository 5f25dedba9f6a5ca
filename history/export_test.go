package history

// What tests of what is published look at.
var LineType = lineType

// FieldKinds reports, of the fields that only some kinds have, whether k has them.
func FieldKinds(k Kind) map[string]bool {
	has := map[string]bool{}
	for field, kinds := range fieldKinds {
		has[field] = kinds.has(k)
	}
	return has
}

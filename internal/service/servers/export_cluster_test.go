package servers

// SlotOf is the hash slot of a key without a tag.
func SlotOf(key string) int { return slotOf(key) }

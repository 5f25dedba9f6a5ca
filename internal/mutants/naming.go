package mutants

import (
	"strconv"
	"strings"

	"github.com/lockbench/lockbench"
)

// namingMutants make one key of two: the owner of one keeps others out of both.
var namingMutants = []Mutant{
	{
		Name: "cut-64", Seen: "names of advisory locks, and columns of 64 characters",
		Mechanism: "a name is cut at 64 bytes: names that begin alike are one key",
		Breaks:    []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0)}, Scenario: "odd-keys", change: func(a *parts) { a.named = cutAt(64) },
	},
	{
		Name: "cut-255", Seen: "columns of 255 characters, and file names",
		Mechanism: "a name is cut at 255 bytes: names that begin alike are one key",
		Breaks:    []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0)}, Scenario: "odd-keys", change: func(a *parts) { a.named = cutAt(255) },
	},
	{
		Name: "tag-is-key", Seen: "no row: the hash tag of Redis Cluster taken for the name",
		Mechanism: "of a name with braces the text between them is the key",
		Breaks:    []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0)}, Scenario: "odd-keys", change: func(a *parts) { a.named = hashTag },
	},
	{
		Name: "hash-is-key", Seen: "advisory locks, whose keys are numbers",
		Mechanism: "the key is a CRC16 of the name, by which Redis Cluster divides keys into slots",
		Breaks:    []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0)}, Scenario: "odd-keys", change: func(a *parts) { a.named = slotOf },
	},
	{
		Name: "any-case", Seen: "MySQL's GET_LOCK, and columns whose collation ignores case",
		Mechanism: "names that differ in case alone are one key",
		Breaks:    []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0)}, Scenario: "odd-keys", change: func(a *parts) { a.named = strings.ToLower },
	},
	{
		Name: "trimmed", Seen: "columns of a fixed length, whose values end before their last space",
		Mechanism: "spaces at the end of a name are dropped",
		Breaks:    []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0)}, Scenario: "odd-keys", change: func(a *parts) { a.named = strings.TrimSpace },
	},
}

func cutAt(most int) func(string) string {
	return func(key string) string { return key[:min(len(key), most)] }
}

func hashTag(key string) string {
	if _, after, found := strings.Cut(key, "{"); found {
		if tag, _, closed := strings.Cut(after, "}"); closed && tag != "" {
			return tag
		}
	}
	return key
}

// slotOf returns the CRC16 of key.
func slotOf(key string) string {
	var sum uint16
	for _, b := range []byte(key) {
		sum ^= uint16(b) << 8
		for range 8 {
			carry := sum>>15 != 0
			if sum <<= 1; carry {
				sum ^= 0x1021
			}
		}
	}
	return strconv.Itoa(int(sum))
}

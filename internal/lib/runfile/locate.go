package runfile

import (
	"slices"
	"strings"
)

// Locate puts the position of a setting before an error that names the setting and its
// value, as in "workload oversell: clients 0: a run needs somebody": some faults show
// only when all settings are known. It returns errors that name no setting unchanged.
//
// values returns the values of a setting as the error would write them, in their order.
func (f File) Locate(err error, values func(Setting) []string) error {
	if err == nil {
		return nil
	}
	// The last part that names a setting is the cause, and those before say where it applies.
	for _, part := range slices.Backward(strings.Split(err.Error(), ": ")) {
		for _, s := range f.Settings {
			// The last of equal values is the superfluous one.
			for i, value := range slices.Backward(values(s)) {
				if plain(part) == plain(s.Key.Name+value) {
					return Problem{File: f.Name, At: s.Values[i].At, Err: err}
				}
			}
		}
	}
	return err
}

// plain removes the characters in which errors and keys differ: warm-up 1s, warmup 1s.
func plain(text string) string { return strings.NewReplacer(" ", "", "-", "").Replace(text) }

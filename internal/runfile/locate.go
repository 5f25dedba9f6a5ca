package runfile

import (
	"strings"
)

// Locate puts the place of a setting before an error that names it and its value, as in
// "workload oversell: clients 0: a run needs somebody": some things are seen to be wrong
// only when all settings are known. Errors that name none are returned as they are.
//
// value returns the value of a setting as the error would write it.
func (f File) Locate(err error, value func(Setting) string) error {
	if err == nil {
		return nil
	}
	parts := strings.Split(err.Error(), ": ")
	for _, s := range f.Settings {
		named := plain(s.Key.Name + value(s))
		for _, part := range parts {
			if plain(part) == named {
				return Problem{File: f.Name, At: s.Values[0].At, Err: err}
			}
		}
	}
	return err
}

// plain leaves out what errors and keys write differently: warm-up 1s, warmup 1s.
func plain(text string) string { return strings.NewReplacer(" ", "", "-", "").Replace(text) }

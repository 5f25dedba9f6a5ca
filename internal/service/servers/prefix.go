package servers

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// NewPrefix returns a prefix for all keys of one run, "lockbench:" and eight
// random hexadecimal digits, so that runs on one server do not meet.
func NewPrefix() string {
	var id [4]byte
	_, _ = rand.Read(id[:]) // never fails, says its documentation
	return "lockbench:" + hex.EncodeToString(id[:]) + ":"
}

// IsPrefix reports whether NewPrefix may have returned p.
func IsPrefix(p string) bool {
	id, is := strings.CutPrefix(p, "lockbench:")
	id, ends := strings.CutSuffix(id, ":")
	of, err := hex.DecodeString(id)
	return is && ends && err == nil && len(of) == 4
}

// globbed escapes the special characters of MATCH in prefix, and appends a
// star.
func globbed(prefix string) string {
	return globEscaper.Replace(prefix) + "*"
}

var globEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

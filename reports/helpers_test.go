package reports

import (
	"strings"
	"unicode/utf8"
)

// longestLine returns the number of characters in the longest line, without
// colours.
func longestLine(s string) int {
	longest := 0
	for line := range strings.Lines(s) {
		longest = max(longest, utf8.RuneCountInString(stripColour(strings.TrimRight(line, " \n"))))
	}
	return longest
}

func stripColour(s string) string {
	for {
		from := strings.Index(s, "\x1b[")
		if from < 0 {
			return s
		}
		length := strings.IndexByte(s[from:], 'm')
		if length < 0 {
			return s
		}
		s = s[:from] + s[from+length+1:]
	}
}

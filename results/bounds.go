package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// The limits on a file, which keep the memory needed to read it within a few hundred megabytes: an
// element of a list takes as little as two bytes of text, and a run several hundred bytes of
// memory.
const (
	maxText     = 32 << 20
	maxList     = 50_000    // in elements of one list
	maxElements = 1_000_000 // in elements of all lists together
	unchecked   = 1 << 18   // in bytes; shorter text is not counted
)

// readText reads r to its end. It returns an error if the text is longer than maxText or has too
// many elements, see [tooMany].
func readText(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("it has more than %d MB; hint: is it a file that lockbench wrote?", maxText>>20)
	}
	return text, tooMany(text)
}

// tooMany returns an error if text has a list longer than maxList, or more than maxElements in all
// lists. It returns nil for text that is not JSON, which the decoder will reject.
func tooMany(text []byte) error {
	if len(text) < unchecked {
		return nil
	}
	tokens := json.NewDecoder(bytes.NewReader(text))
	var depths []int // elements seen of each open list; -1 for an open object
	all := 0
	for {
		token, err := tokens.Token()
		if err != nil {
			return nil
		}
		if token == json.Delim(']') || token == json.Delim('}') {
			depths = depths[:len(depths)-1]
			continue
		}
		if last := len(depths) - 1; last >= 0 && depths[last] >= 0 {
			depths[last]++
			all++
			if depths[last] > maxList || all > maxElements {
				return fmt.Errorf("it has a list of more than %d elements, or lists of more than %d; hint: is it a file that lockbench wrote?", maxList, maxElements)
			}
		}
		switch token {
		case json.Delim('['):
			depths = append(depths, 0)
		case json.Delim('{'):
			depths = append(depths, -1)
		}
	}
}

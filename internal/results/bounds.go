package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// What a file may have at most, so that reading it takes less than some hundred megabytes: an element of a list is two bytes of
// text, and a run some hundred in memory.
const (
	maxText     = 32 << 20
	maxList     = 50_000    // elements of one list
	maxElements = 1_000_000 // of all lists together
	unchecked   = 1 << 18   // bytes of text in which nothing is too many
)

// readText reads all of r, if that is not too much.
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

// tooMany is about text with more elements than a report has. What is no JSON is for others to say.
func tooMany(text []byte) error {
	if len(text) < unchecked {
		return nil
	}
	tokens := json.NewDecoder(bytes.NewReader(text))
	var depths []int // elements so far of the lists that are open; -1 is of an object
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

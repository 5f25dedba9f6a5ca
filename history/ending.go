package history

import (
	"encoding/json"
	"fmt"
)

// endJSON is the form of End in JSON Lines and native files.
type endJSON struct {
	Partial bool     `json:"partial,omitempty"`
	Why     string   `json:"why,omitempty"`
	Trailer *Trailer `json:"trailer,omitempty"`
}

func (e endJSON) end() End {
	end := End{Partial: e.Partial, Why: e.Why}
	if e.Trailer != nil {
		end.Trailer = *e.Trailer
	}
	return end
}

func endingOf(end End) endJSON {
	e := endJSON{Partial: end.Partial, Why: end.Why}
	if !end.Partial {
		e.Trailer = &end.Trailer
	}
	return e
}

func marshalEnd(end End) ([]byte, error) {
	text, err := json.Marshal(endingOf(end))
	if err != nil {
		return nil, fmt.Errorf("history: encode the trailer: %w", err)
	}
	return text, nil
}

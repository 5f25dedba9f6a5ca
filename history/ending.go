package history

import (
	"encoding/json"
	"fmt"
)

// ending is End as files have it.
type ending struct {
	Partial bool     `json:"partial,omitempty"`
	Why     string   `json:"why,omitempty"`
	Trailer *Trailer `json:"trailer,omitempty"`
}

func (e ending) end() End {
	end := End{Partial: e.Partial, Why: e.Why}
	if e.Trailer != nil {
		end.Trailer = *e.Trailer
	}
	return end
}

func endingOf(end End) ending {
	e := ending{Partial: end.Partial, Why: end.Why}
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

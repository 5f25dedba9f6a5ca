package bubble

import (
	"errors"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore"
)

// A request is what a child is sent: one line of JSON on its standard input, which
// stays open for as long as the child is to go on.
type request struct {
	// Config but for its Design, which holds functions: the name below takes its
	// place in JSON, being less deep.
	explore.Config
	Design string
	// Claims are those of the design, which may not be the ones that it was made
	// with.
	Claims lockbench.Claims
	Replay []byte
}

// A message is one line of what a child answers. One field is set.
type message struct {
	// Beat counts the steps so far: what is alive makes some.
	Beat     int64             `json:",omitempty"`
	Progress *explore.Progress `json:",omitempty"`
	Answer   *answer           `json:",omitempty"`
}

// An answer is the last message.
type answer struct {
	Result explore.Result
	Error  string
	Lacks  *explore.LacksError `json:",omitempty"`
}

func answerOf(result explore.Result, err error) *answer {
	a := &answer{Result: result}
	if err != nil && !errors.As(err, &a.Lacks) {
		a.Error = err.Error()
	}
	return a
}

func (a *answer) err() error {
	switch {
	case a.Lacks != nil:
		return a.Lacks
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

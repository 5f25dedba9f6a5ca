package bubble

import (
	"errors"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore"
)

// A request is the input of a child: one line of JSON on its standard input, which
// stays open as long as the child is to go on.
type request struct {
	// Config has no Design, since that contains functions: the name below replaces it in JSON, as
	// the less deeply nested field of the same name.
	explore.Config
	Design string
	// Definition is that of the design.
	Definition string `json:",omitempty"`
	// Claims are the claims to judge the design by, which may differ from its own.
	Claims lockbench.Claims
	Replay []byte
}

// A message is one line of a child's output. One field is set.
type message struct {
	// Beat is the number of steps so far. It rises unless the child hangs.
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

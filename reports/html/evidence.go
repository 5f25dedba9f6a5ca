package html

import (
	"reflect"
	"strings"

	"github.com/lockbench/lockbench/reports"
)

// An evidence is what shows that a cell is broken.
type evidence struct {
	ID string
	judgement
	Sentence, Margin, Key string
	// As names the cell whose evidence is the same, empty for none; that is shown
	// there and not again.
	As, AsID string
	// Picture is nil where there is nothing to draw.
	Picture *picture
	// Steps are those of an explored schedule, Told the operations of a live run.
	Steps []reports.Step
	Told  []told
	More  int // operations that are in the JSON result alone
}

// told is one operation in words.
type told struct {
	At     int64
	Client string
	Words  string
}

// maxTold is how many operations or steps a picture and its table show.
const maxTold = 400

// newEvidence shows what a judgement is based on, which has a counterexample.
func newEvidence(id string, j judgement) evidence {
	e := evidence{ID: id, judgement: j}
	e.describe()
	return e
}

// appendEvidence adds one to those of a run or a design; what an earlier one is drawn from
// is not drawn again.
func appendEvidence(all []evidence, e evidence) []evidence {
	for i := range all {
		if all[i].As == "" && all[i].shows(&e) {
			e.As, e.AsID, e.Picture = all[i].Name(), all[i].ID, nil
		}
	}
	return append(all, e)
}

// shows reports whether e is drawn from what o is drawn from.
func (e *evidence) shows(o *evidence) bool {
	if e.Schedule != nil || o.Schedule != nil {
		return e.Schedule != nil && o.Schedule != nil && e.Schedule.Replay == o.Schedule.Replay
	}
	return reflect.DeepEqual(e.Counterexample.Holds, o.Counterexample.Holds) && reflect.DeepEqual(e.Counterexample.Ops, o.Counterexample.Ops)
}

func (e *evidence) describe() {
	if w := e.Counterexample; w != nil {
		e.Sentence, e.Key = w.Sentence, w.Key
		e.Margin = strings.TrimPrefix(w.Margin(), "; margin ")
	}
	if e.Schedule != nil {
		e.Steps = e.Schedule.Steps
		if len(e.Steps) > maxTold {
			e.Steps, e.More = e.Steps[:maxTold], len(e.Steps)-maxTold
		}
		e.Picture = schedulePicture(e.Steps)
		return
	}
	ops := e.Counterexample.Ops
	if len(ops) > maxTold {
		ops, e.More = ops[:maxTold], len(ops)-maxTold
	}
	for i := range ops {
		at, words := ops[i].Told()
		e.Told = append(e.Told, told{at, clientName(ops[i].Client), words})
	}
	e.Picture = counterexamplePicture(e.Counterexample, ops)
}

// Replay is the file that shows an explored schedule again, empty for none.
func (e *evidence) Replay() string {
	if e.Schedule == nil {
		return ""
	}
	return e.Schedule.Replay
}

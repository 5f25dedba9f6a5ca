package limits

import (
	"fmt"
	"math"
)

// Samples returns the number of trials without an event that prove, with the given confidence, that
// the probability of the event is below risk: the smallest n with (1-risk)^n <= 1-confidence. For
// 95% it is about 3/risk, the rule of three.
//
// It returns an error if risk or confidence is not between 0 and 1.
func Samples(risk, confidence float64) (int64, error) {
	for _, v := range []struct {
		name  string
		value float64
	}{{"risk", risk}, {"confidence", confidence}} {
		if !(v.value > 0 && v.value < 1) {
			return 0, fmt.Errorf("%s %v: it is not between 0 and 1; hint: 0.001 or 0.95, say", v.name, v.value)
		}
	}
	return int64(math.Ceil(math.Log1p(-confidence) / math.Log1p(-risk))), nil
}

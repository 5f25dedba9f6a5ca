package reports

import (
	"strconv"

	"github.com/lockbench/lockbench/results"
)

// arrival returns a phrase on the arrivals that params set, or "closed loop" if they set clients
// only; empty if they set neither.
func arrival(params map[string]any) string {
	model := results.Setting(params, "arrival")
	stages, rate := results.Setting(params, "stages"), ""
	if r, ok := params["rate"].(float64); ok {
		rate = strconv.FormatFloat(r, 'f', -1, 64)
	}
	switch {
	case stages != "" && rate != "":
		return "open loop: " + model + " from " + rate + "/s, " + stages
	case stages != "":
		return "open loop: " + model + " " + stages
	case rate != "":
		return "open loop: " + model + " " + rate + "/s"
	case results.Setting(params, "clients") != "":
		return "closed loop"
	}
	return ""
}

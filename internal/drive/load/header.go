package load

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/lib/buildinfo"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/workloads"
)

// header describes the run for the history. The recorder fills in Started.
func header(c Config, o workloads.Options) (history.Header, error) {
	params, err := params(o)
	h := history.Header{
		Design:       c.Design.Name,
		Claims:       c.Design.Claims,
		Reacquire:    string(c.Design.Reacquire),
		Control:      string(c.Design.Control),
		Renews:       c.Design.Renews,
		RenewsUnseen: c.Design.RenewsUnseen,
		ToleranceNS:  int64(c.Design.Tolerance),
		Exercises:    exercises(c, o),
		Workload:     c.Workload.Name,
		Params:       params,
		Seed:         o.Seed,
		Faults:       fault.KindsOf(c.Faults),
		WarmupNS:     int64(o.Warmup),
		Server:       c.services().Info(),
		Environment:  environment(),
	}
	if c.Host != nil {
		h.Server = c.Host.Server
	}
	if c.Design.OwnStamps {
		h.Stamps = history.AdapterStamps
	}
	if !c.Share.Whole() {
		h.Share, h.Others = c.Share, o.SharedKeys
	}
	if o.Stallers > 0 {
		h.Clients, h.Stallers = o.Clients, o.Stallers
	}
	return h, err
}

// exercises lists the cells that the workload can test with this design. A design
// that keeps its leases alive does not lose them to a slow holder, so the cells
// about a loss do not occur.
func exercises(c Config, o workloads.Options) []lockbench.Cell {
	if c.Design.Control != "" {
		return nil
	}
	found := append(c.Workload.Cells(o), fault.Exercises(c.Faults)...)
	slices.SortFunc(found, lockbench.Cell.Compare)
	found = slices.Compact(found)
	if fault.Conditions(c.Faults).Has(lockbench.Skew) { // clocks that are off hide which client lost the lock to which
		found = slices.DeleteFunc(found, func(cell lockbench.Cell) bool { return cell.Guarantee == lockbench.LossReported })
	}
	found = slices.DeleteFunc(found, func(cell lockbench.Cell) bool { return cell.Under&c.Design.Impossible() != 0 })
	if !c.Design.Renews && !c.Design.Leaseless {
		return found
	}
	return slices.DeleteFunc(found, func(cell lockbench.Cell) bool {
		return c.Design.Leaseless && (cell.Guarantee == lockbench.LeaseKept || cell.Under.Has(lockbench.Outlived)) || cell.Guarantee == lockbench.OwnerRelease || cell.Guarantee == lockbench.LossReported
	})
}

func params(o workloads.Options) (map[string]any, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode options: %w", err)
	}
	var params map[string]any
	err = json.Unmarshal(text, &params)
	return params, err
}

func environment() runinfo.Environment {
	return runinfo.Environment{
		OS:      runtime.GOOS,
		Arch:    runtime.GOARCH,
		CPUs:    runtime.NumCPU(),
		Go:      runtime.Version(),
		Version: buildinfo.Version(),
	}
}

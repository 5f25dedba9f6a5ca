package html

import "github.com/lockbench/lockbench/reports"

// data is what the page draws from, beside what it says in words.
type data struct {
	Runs     []runData           `json:"runs,omitempty"`
	Pictures map[string]*picture `json:"pictures,omitempty"` // by the id of the evidence
}

func newData() data { return data{Pictures: make(map[string]*picture)} }

// show adds the pictures of some evidence.
func (d *data) show(all []evidence) {
	for i := range all {
		if e := &all[i]; e.Picture != nil {
			d.Pictures[e.ID] = e.Picture
		}
	}
}

type runData struct {
	Label    string              `json:"label"`
	Slow     bool                `json:"slow,omitempty"`
	Spectra  map[string]spectrum `json:"spectra"`
	OverTime *reports.OverTime   `json:"over_time,omitempty"`
	// Verdicts say which of the violations over time are of claims.
	Verdicts map[string]string `json:"verdicts,omitempty"`
	Grants   []int64           `json:"grants_by_client,omitempty"`
}

type spectrum struct {
	Count int64 `json:"count"`
	*reports.Spectrum
}

// isCurve reports whether there is something to draw.
func isCurve(s *reports.Spectrum) bool {
	return s != nil && len(s.NS) > 0 && len(s.NS) == len(s.Shares)
}

func newRunData(run *runView) runData {
	d := runData{
		Label: run.Label, Slow: run.Slow, Spectra: make(map[string]spectrum),
		OverTime: run.OverTime, Verdicts: make(map[string]string),
		Grants: run.GrantsByClient,
	}
	for _, row := range latencyNames {
		if l := run.Latency[row.op]; l.Count > 0 && isCurve(l.Spectrum) {
			d.Spectra[row.op] = spectrum{l.Count, l.Spectrum}
		}
	}
	if run.Latency["lag"].Count == 0 {
		delete(d.Spectra, "service") // the same as acquire
	}
	for _, j := range run.Judged {
		d.Verdicts[j.Name()] = "not claimed"
		if j.Against > 0 {
			d.Verdicts[j.Name()] = "claimed"
		}
	}
	return d
}

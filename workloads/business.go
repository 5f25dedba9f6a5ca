package workloads

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/figures"
)

// The names of the figures that programs of the catalogue have of their business.
const (
	figureSold      = "sold"      // units that buyers were told they have
	figureGone      = "gone"      // units that are missing from the stock
	figureOversold  = "oversold"  // units sold that were not there
	figureRedeemed  = "redeemed"  // points that users were told they have exchanged
	figureHad       = "had"       // points that were there to exchange, and are gone
	figureOverdrawn = "overdrawn" // points exchanged that were not there
	figureMissing   = "missing"   // points that are gone and that nobody has exchanged
	figurePeriods   = "periods"   // in which a job was begun
	figureJobsRun   = "jobs"      // jobs that were begun
	figureRepeated  = "repeated"  // periods in which the job ran twice at once, or again at once
	figureUncertain = "uncertain" // units or points of writes without an answer
)

// sales is what a flash sale came to. A unit that a write without an answer took is among those
// gone and not among those sold, so that what is oversold is certain.
func sales(b Books) Business {
	var sold, gone, oversold, uncertain int64
	for _, a := range b.Accounts {
		sold += a.Taken
		gone += a.Start - a.Left
		oversold += max(0, a.Taken-(a.Start-a.Left))
		uncertain += a.MayTaken
	}
	says := fmt.Sprintf("sold %s, and %s %s gone from the stock: %s oversold",
		figures.Number(sold), figures.Number(gone), are(gone), figures.Number(oversold))
	return Business{says + atMost(uncertain, "sold"),
		map[string]int64{figureSold: sold, figureGone: gone, figureOversold: oversold, figureUncertain: uncertain}}
}

// redemptions is what the exchange of points came to, user by user: what two updates of one user
// lost in opposite directions cancels out, so that both figures are at least so much. Points that a write without an answer may
// have added are taken for added, those that it may have taken for not taken.
func redemptions(b Books) Business {
	var redeemed, had, overdrawn, missing, uncertain int64
	for _, a := range b.Accounts {
		its := a.Start + a.Added - a.Left
		redeemed += a.Taken
		had += its
		overdrawn += max(0, a.Taken-its-a.MayAdded)
		missing += max(0, its-a.Taken-a.MayTaken)
		uncertain += a.MayTaken
	}
	says := fmt.Sprintf("redeemed %s, and %s %s there and %s gone: %s overdrawn, %s missing", figures.Plural(redeemed, "point"),
		figures.Number(had), were(had), are(had), figures.Number(overdrawn), figures.Number(missing))
	return Business{says + atMost(uncertain, "redeemed"),
		map[string]int64{figureRedeemed: redeemed, figureHad: had, figureOverdrawn: overdrawn, figureMissing: missing, figureUncertain: uncertain}}
}

// jobsDone is how often jobs ran.
func jobsDone(b Books) Business {
	j := b.Jobs
	says := fmt.Sprintf("ran the job %s in %s: %s had it twice at once, or again within the delay",
		times(j.Run), figures.Plural(j.Periods, "period"), figures.Number(j.Repeated))
	return Business{says, map[string]int64{figurePeriods: j.Periods, figureJobsRun: j.Run, figureRepeated: j.Repeated}}
}

// atMost says what writes without an answer may have done beside.
func atMost(n int64, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; at most %s more may have been %s, by writes without an answer", figures.Number(n), what)
}

func are(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func were(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func times(n int64) string { return figures.Plural(n, "time") }

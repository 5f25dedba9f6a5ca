package workloads

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/lib/figures"
)

// Names of figures of business.
const (
	figureSold      = "sold"      // units that buyers were told they have
	figureGone      = "gone"      // units that are missing from the stock
	figureOversold  = "oversold"  // units sold that were not there
	figureRedeemed  = "redeemed"  // points that users were told they have exchanged
	figureHad       = "had"       // points that existed and are gone
	figureOverdrawn = "overdrawn" // points exchanged that were not there
	figureMissing   = "missing"   // points that are gone and that nobody has exchanged
	figurePeriods   = "periods"   // periods in which a job began
	figureJobsRun   = "jobs"      // jobs that began
	figureRepeated  = "repeated"  // periods in which the job ran twice at once, or again at once
	figureUncertain = "uncertain" // units or points of writes without an answer
)

// sales sums up a flash sale. A unit taken by a write without an answer counts as gone and not as
// sold, so that every oversold unit is certain.
func sales(b Books) map[string]int64 {
	var sold, gone, oversold, uncertain int64
	for _, a := range b.Accounts {
		sold += a.Taken
		gone += a.Start - a.Left
		oversold += max(0, a.Taken-(a.Start-a.Left))
		uncertain += a.MayTaken
	}
	return map[string]int64{figureSold: sold, figureGone: gone, figureOversold: oversold, figureUncertain: uncertain}
}

func saySales(f map[string]int64) string {
	return fmt.Sprintf("sold %s, and %s %s gone from the stock: %s oversold", figures.Number(f[figureSold]),
		figures.Number(f[figureGone]), are(f[figureGone]), figures.Number(f[figureOversold])) + atMost(f[figureUncertain], "sold")
}

// redemptions sums up the exchange of points, user by user. Both figures are lower bounds. Two
// lost updates of one user in opposite directions cancel out. Of the writes without an answer,
// overdrawn counts the additions as made and the takings as not made, and missing counts the
// takings as made.
func redemptions(b Books) map[string]int64 {
	var redeemed, had, overdrawn, missing, uncertain int64
	for _, a := range b.Accounts {
		its := a.Start + a.Added - a.Left
		redeemed += a.Taken
		had += its
		overdrawn += max(0, a.Taken-its-a.MayAdded)
		missing += max(0, its-a.Taken-a.MayTaken)
		uncertain += a.MayTaken
	}
	return map[string]int64{figureRedeemed: redeemed, figureHad: had, figureOverdrawn: overdrawn, figureMissing: missing, figureUncertain: uncertain}
}

func sayRedemptions(f map[string]int64) string {
	had := f[figureHad]
	return fmt.Sprintf("redeemed %s, and %s %s there and %s gone: %s overdrawn, %s missing", figures.Plural(f[figureRedeemed], "point"),
		figures.Number(had), were(had), are(had), figures.Number(f[figureOverdrawn]), figures.Number(f[figureMissing])) + atMost(f[figureUncertain], "redeemed")
}

// jobsDone sums up the runs of the jobs.
func jobsDone(b Books) map[string]int64 {
	j := b.Jobs
	return map[string]int64{figurePeriods: j.Periods, figureJobsRun: j.Run, figureRepeated: j.Repeated}
}

func sayJobsDone(f map[string]int64) string {
	return fmt.Sprintf("ran the job %s in %s: %s had it twice at once, or again within the delay",
		times(f[figureJobsRun]), figures.Plural(f[figurePeriods], "period"), figures.Number(f[figureRepeated]))
}

// atMost says how much the writes without an answer may have added to n.
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

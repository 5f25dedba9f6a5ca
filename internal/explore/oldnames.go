package explore

import "github.com/lockbench/lockbench"

// oldMagic begins the replay files of before guarantees had conditions. There a guarantee
// was a promise, or a fault that it is kept under.
const oldMagic = "lockbench replay 1"

// oldNames are these guarantees, as the cells that a schedule may break that broke one of
// them, with whatever other conditions: the likeliest first, then any guarantee.
var oldNames = map[string][]lockbench.Cell{
	"exclusion":           {lockbench.Exclusion.At(0)},
	"overrun":             {lockbench.Exclusion.At(lockbench.Outlived)},
	"owner-release":       {lockbench.OwnerRelease.At(0)},
	"no-early-expiry":     {lockbench.LeaseKept.At(0)},
	"recovery":            {lockbench.Recovery.At(lockbench.Crash), lockbench.Recovery.At(lockbench.ThreadDeath)},
	"loss-reported":       {lockbench.LossReported.At(0)},
	"extend":              {lockbench.LeaseKept.At(0)},
	"reentrancy":          {lockbench.Reentrancy.At(0)},
	"fencing":             {lockbench.Fencing.At(0)},
	"effects":             {lockbench.Effects.At(0)},
	"no-spurious-refusal": {lockbench.NoSpuriousRefusal.At(0), lockbench.Answers.At(lockbench.LostReply)},
	"cancel":              {lockbench.Recovery.At(lockbench.Cancel), lockbench.LeaseKept.At(lockbench.Cancel), {Under: lockbench.Cancel}},
	"lost-reply": {
		lockbench.Recovery.At(lockbench.LostReply), lockbench.LeaseKept.At(lockbench.LostReply), {Under: lockbench.LostReply},
		lockbench.LeaseKept.At(lockbench.Cancel), {Under: lockbench.Cancel}, // a call that timed out
	},
	"skew":          {lockbench.Exclusion.At(lockbench.Skew), {Under: lockbench.Skew}},
	"script-flush":  {lockbench.Answers.At(lockbench.ScriptFlush), {Under: lockbench.ScriptFlush}},
	"restart":       {lockbench.Exclusion.At(lockbench.StateLoss), {Under: lockbench.StateLoss}},
	"release-delay": {lockbench.ReleaseDelay.At(0)},
}

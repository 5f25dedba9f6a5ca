package workloads

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench"
)

// All lists the programs in the order in which they are shown and explored: first the
// business cases of the source documents, then programs that each show one thing that can go
// wrong. Unless a program is about abandoned locks, clients release their locks, so that
// only faults leave one behind.
func All() []Program { return slices.Concat(business(), situations(), pastLimits()) }

// business returns the cases of the source documents. They make a run of any length.
func business() []Program {
	effects := Contended(lockbench.Effects.At(0))
	onRequest := Exploration{OnRequest: true}
	return []Program{
		{
			Name: "mutex", Summary: "acquire, hold, release",
			Drivers: Live, Exercises: Contended(), Step: holdOnce,
		},
		{
			Name: "oversell", Summary: "sell one unit of the key's stock: read, work, write one less; stop at none",
			Drivers: Live | Explored, Needs: []Ability{HasStore}, Exercises: effects, Exploration: onRequest,
			Stock: func(o Options) int64 { return o.Stock }, Step: sell, Atomic: sellAtOnce, Business: sales, Says: saySales,
		},
		{
			Name: "redeem", Summary: "two requests per user at once: read the points and, above the threshold, subtract it",
			Drivers: Live | Explored, Needs: []Ability{HasStore}, Exercises: effects, Exploration: onRequest,
			Adjust: func(o Options) Options { o.KeyChoice = Pairs; return o },
			Stock:  func(o Options) int64 { return o.Points }, Step: redeem, Atomic: redeemAtOnce, Business: redemptions, Says: sayRedemptions,
		},
		{
			Name: "cron", Summary: "once a period all try at once; one runs the job, extending, and keeps the others out for a delay after it",
			Drivers: Live, Exercises: Contended(lockbench.ReleaseDelay.At(0)), Timetable: true,
			Adjust: func(o Options) Options { o.Wait = 0; return o }, Step: runJob, Atomic: runJobOnce, Business: jobsDone, Says: sayJobsDone,
		},
		{
			// The "Study notes on distributed systems" have 5 s of work on a lease of 2 s:
			// only a design that renews by itself keeps others out.
			Name: "slow-step", Summary: "every hold works on past its lease",
			Drivers: Live, Exercises: Contended(),
			Adjust: func(o Options) Options { o.Slow = 1; return o }, Step: holdOnce,
		},
		{
			Name: "reentrant", Summary: "acquire to a depth, release the inner levels early, work on, release the last",
			Drivers: Live | Explored | Tested, Exercises: Contended(lockbench.Reentrancy.At(0)), Exploration: onRequest, Step: nestToDepth,
		},
	}
}

// situations returns programs that each show one thing that can go wrong. In virtual time
// others can come between without a long hold, and few rounds show it.
func situations() []Program {
	late := Contended(outlived()...)
	return []Program{
		{
			Name: "contend", Summary: "acquire and release, round after round",
			Drivers: Explored | Tested, Exercises: Contended(), Step: holdOnce,
		},
		{
			Name: "update", Summary: "contend, and add one to a guarded record",
			Drivers: Explored | Tested, Needs: []Ability{HasStore}, Exercises: Contended(lockbench.Effects.At(0)), Step: addOne,
		},
		{
			Name: "overrun", Summary: "read, work for one and a half leases, write, release",
			Drivers: Explored, Needs: []Ability{HasStore}, Exercises: late, Step: overrun,
		},
		{
			Name: "stale-release", Summary: "the first client releases after its lease, while the others work, and tries again",
			Drivers: Explored, Exercises: late, Step: releaseStale,
		},
		{
			Name: "release-twice", Summary: "contend, and release a second time",
			Drivers: Live | Explored, Exercises: Contended(), Step: releaseTwice,
		},
		{
			Name: "extend", Summary: "extend in time, work on, extend too late, release",
			Drivers: Live | Explored, Lease: shortLease, Needs: []Ability{Extends}, Exercises: Contended(), Step: extendLate,
		},
		{
			Name: "extend-thrice", Summary: "the first client extends its lease three times and releases it after the end of the first, but never after the last round; the others come before the last end, and shortly after it",
			Drivers: Explored, Needs: []Ability{Extends}, Exercises: Contended(), Part: extendThrice,
		},
		{
			Name: "release-delay", Summary: "release so that others stay out for half a lease, and try meanwhile",
			Drivers: Live | Explored, Lease: shortLease, Needs: []Ability{Delays}, Exercises: Contended(lockbench.ReleaseDelay.At(0)),
			Adjust: noStallers, Step: releaseDelayed,
		},
		{
			Name: "nested", Summary: "acquire twice, release once, work on, release",
			Drivers: Explored, Needs: []Ability{Nests}, Exercises: Contended(lockbench.Reentrancy.At(0)), Step: nestAndWork,
		},
		{
			Name: "wait", Summary: "the first client works for most of its lease; the others come meanwhile, and wait until past its end",
			Drivers: Explored, Exercises: Contended(), Exploration: Exploration{Wait: 0.5}, Step: waitForFirst,
		},
		{
			Name: "wait-ends", Summary: "the first client works for most of its lease; the others come meanwhile, and their wait ends before it",
			Drivers: Explored, Exercises: Contended(), Exploration: Exploration{Wait: 0.5, OnRequest: true}, Step: waitInVain,
		},
		{
			Name: "wake-up", Summary: "the first client works for a quarter of its lease and releases; the others come meanwhile, and wait for three leases",
			Drivers: Explored, Exercises: Contended(lockbench.WakeUp.At(0)), Exploration: Exploration{Wait: 3, OnRequest: true}, Step: waitForRelease,
		},
		{
			Name: "wait-both", Summary: "wait-ends and wake-up in turns: the others' wait ends before the first client's release, or long after it and after the release of a second hold",
			Drivers: Explored, Exercises: Contended(lockbench.WakeUp.At(0)), Exploration: Exploration{Wait: 6}, Part: waitBothWays,
		},
		{
			Name: "renewed", Summary: "the first client works for three leases, which the lock renews; the others come after two, and shortly before the end",
			Drivers: Live | Explored, Lease: shortLease, Needs: []Ability{Renews}, Exercises: Contended(lockbench.Exclusion.At(lockbench.Outlived)),
			Adjust: withFirst(1), Step: workRenewed,
		},
		{
			Name: "two-renewed", Summary: "the first client acquires two keys, which the lock renews, releases one after half a lease, and works for two and a half leases more; the others come for the other after two, and shortly before the end",
			Drivers: Live | Explored, Lease: shortLease, Keys: 2, Needs: []Ability{Renews}, Exercises: Contended(lockbench.Exclusion.At(lockbench.Outlived)),
			Adjust: withFirst(2), Part: workRenewedTwice,
		},
		{
			Name: "odd-leases", Summary: "the first client works through leases of 2.9, 1.5 and 0.9 ms and 1.5 s, and extends them; the others come before their end",
			Drivers: Explored, Needs: []Ability{AnyLease}, Exercises: Contended(lockbench.LeaseKept.At(0)), Part: leaseOddly,
		},
		{
			Name: "abandon", Summary: "the first client never releases; the others come before its lease is over, and long after",
			Drivers: Explored, Exercises: Contended(), Part: abandon,
		},
		{
			Name: "two-keys", Summary: "acquire two keys, every other client in the opposite order, release both",
			Drivers: Live | Explored, Lease: shortLease, Keys: 2, Exercises: Contended(),
			Adjust: twoKeys, Step: takeTwo,
		},
		{
			Name: "odd-keys", Summary: "acquire four keys at once, whose names differ in one byte, in length, in order or in case, and release them in order, or backwards",
			Drivers: Live | Explored | Tested, Keys: 2 * oddSet, KeyNames: OddKeys("job", "{job}"), Needs: []Ability{AnyKey}, Exercises: Contended(),
			Adjust: withFirst(2 * oddSet), Part: takeOddly,
		},
	}
}

// shortLease is the lease of live runs with rounds of several leases.
const shortLease = 300 * time.Millisecond

// withFirst has all clients take the same keys, so that there is one first client, and no stallers.
func withFirst(keys int) func(Options) Options {
	return func(o Options) Options {
		o.Keys, o.KeyChoice, o.Stallers = keys, Uniform, 0
		return o
	}
}

// twoKeys sets at least two keys for each group of keys, unless the key choice sets their number. Stallers would hardly
// outlive a lease: others wait for them with one key, and so release late themselves.
func twoKeys(o Options) Options {
	if o.KeyChoice != Own {
		o.Keys = max(o.Keys, 2*o.keyGroups())
	}
	return noStallers(o)
}

// noStallers is for programs in which no next holder is there when a staller releases.
func noStallers(o Options) Options {
	o.Stallers = 0
	return o
}

// pastLimits returns programs that hardly any design promises to survive. They are explored
// only by name.
func pastLimits() []Program {
	nests, nested := []Ability{Nests}, Contended(lockbench.Reentrancy.At(0))
	onRequest := Exploration{OnRequest: true}
	return []Program{
		{
			Name: "nested-short", Summary: "nested, the second acquire asking for a quarter of the lease: past the limits that some designs document",
			Drivers: Explored, Needs: nests, Exercises: nested, Exploration: onRequest,
			Adjust: func(o Options) Options { o.NestedTTL = o.TTL / 4; return o }, Step: nestAndWork,
		},
		{
			Name: "nested-again", Summary: "nested, and a call that got no answer is made once more, as part of it: what drivers do",
			Drivers: Explored, Needs: nests, Exercises: nested, Exploration: Exploration{OnRequest: true, Again: true}, Step: nestAndWork,
		},
		{
			Name: "successor", Summary: "the first client dies with the key; a process of the same name, the last client's, comes within that lease and works past it; the others come meanwhile",
			Drivers: Explored, Exercises: []lockbench.Cell{lockbench.Recovery.At(lockbench.Crash)}, Exploration: Exploration{OnRequest: true, Succeeds: true, Clients: 3}, Part: succeed,
		},
		{
			Name: "leftover", Summary: "the first client tries once; the others acquire and release, one round after the other, when its lease is long over",
			Drivers: Explored, Exploration: onRequest, Part: tryLeftover,
		},
		{
			Name: "hoard", Summary: "the same, but nobody releases: whoever gets in beside another does so by the acquire alone",
			Drivers: Explored, Exploration: onRequest, Part: hoard,
		},
	}
}

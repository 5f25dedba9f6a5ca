package lockbench

// A Guarantee names one thing a lock may be relied on for. Names are stable:
// they appear in results, histories and command lines.
type Guarantee string

// The guarantees, in the order in which reports show them.
const (
	Exclusion         Guarantee = "exclusion"
	Overrun           Guarantee = "overrun"
	OwnerRelease      Guarantee = "owner-release"
	NoEarlyExpiry     Guarantee = "no-early-expiry"
	Recovery          Guarantee = "recovery"
	LossReported      Guarantee = "loss-reported"
	Extend            Guarantee = "extend"
	Reentrancy        Guarantee = "reentrancy"
	Fencing           Guarantee = "fencing"
	Effects           Guarantee = "effects"
	NoSpuriousRefusal Guarantee = "no-spurious-refusal"
	Cancel            Guarantee = "cancel"
	LostReply         Guarantee = "lost-reply"
	Skew              Guarantee = "skew"
	ScriptFlush       Guarantee = "script-flush"
	Restart           Guarantee = "restart"
	Failover          Guarantee = "failover"
	ReleaseDelay      Guarantee = "release-delay"
	Fairness          Guarantee = "fairness"
)

// Guarantees lists every guarantee with the condition under which it holds.
func Guarantees() []GuaranteeInfo {
	return []GuaranteeInfo{
		{Exclusion, "within validity no two owners hold one key"},
		{Overrun, "work past validity: the lock was kept alive, nobody else got in"},
		{OwnerRelease, "a release or extend by an owner that lost the lock does nothing to the next holder"},
		{NoEarlyExpiry, "nobody else is granted the key before the granted lease is over"},
		{Recovery, "a dead owner's key is obtainable again within the granted TTL and the named slack"},
		{LossReported, "an owner that lost the lock is told so at its next call, and never while it still holds"},
		{Extend, "a successful extend keeps others out for its whole length"},
		{Reentrancy, "nested acquires count, only the last release frees"},
		{Fencing, "fences rise with every grant; a store that checks them admits no stale write"},
		{Effects, "the guarded state lost no update"},
		{NoSpuriousRefusal, "a try succeeds on a key that was provably free all along"},
		{Cancel, "a cancelled acquire leaves nothing held past its TTL"},
		{LostReply, "an operation whose reply was lost wedges nothing and frees nobody else's lock"},
		{Skew, "exclusion under client clocks that differ from the server's"},
		{ScriptFlush, "survives SCRIPT FLUSH and a reconnect"},
		{Restart, "exclusion across a server restart without persistence"},
		{Failover, "exclusion across loss of a primary before replication"},
		{ReleaseDelay, "after ReleaseAfter(d) nobody is granted the key before d has passed"},
		{Fairness, "measured, not judged: longest wait, bypasses, Jain's index"},
	}
}

// GuaranteeInfo is a guarantee and what it promises, in one sentence.
type GuaranteeInfo struct {
	Name      Guarantee
	HoldsWhen string
}

package design

import "github.com/lockbench/lockbench"

// Renewing returns c with what a lock can claim beside it that renews each hold until it
// is released: exclusion@outlived, but for what hinders the renewals.
func Renewing(c lockbench.Claims) lockbench.Claims {
	c.Also = append(c.Also[:len(c.Also):len(c.Also)], lockbench.Exclusion.At(lockbench.Outlived))
	for _, hindered := range []struct {
		by  lockbench.Conditions
		why string
	}{
		{lockbench.Pause, "a process that stands still cannot renew"},
		{lockbench.Crash, "a process that died cannot renew"},
		{lockbench.ThreadDeath, "the hold of a thread that died is not to be renewed"},
		{lockbench.ScriptFlush, "a renewal that meets a flush may come too late"},
		{lockbench.StateLoss, "a key that the server forgot cannot be renewed"},
		{lockbench.Failover, "a key that the new primary does not know cannot be renewed"},
	} {
		c = c.But(lockbench.Exception{
			Gives: []lockbench.Guarantee{lockbench.Exclusion}, Under: lockbench.Outlived | hindered.by, Why: hindered.why,
		})
	}
	return c
}

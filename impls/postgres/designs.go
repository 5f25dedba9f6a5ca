package postgres

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/postgres"
)

const manual = "PostgreSQL manual, Advisory Locks"

// Designs returns the family: postgres/session, postgres/transaction and postgres/row.
func Designs() []design.Design {
	// Exclusion lasts as long as the session: a server that was restarted, or that lost the connection, frees
	// the key while its owner works on.
	whileItLasts := lockbench.Claims{
		Keeps: []lockbench.Guarantee{
			lockbench.Exclusion, lockbench.OwnerRelease, lockbench.LossReported, lockbench.Answers,
			lockbench.NoSpuriousRefusal, lockbench.Recovery, lockbench.Effects, lockbench.WakeUp,
		},
		Survives: lockbench.Survivable,
		Except: []lockbench.Exception{
			{
				Gives: []lockbench.Guarantee{lockbench.Recovery}, Under: lockbench.ThreadDeath,
				Why: "the server ends the session of a process that ended, not that of a thread",
			},
			{
				Gives: []lockbench.Guarantee{lockbench.Exclusion, lockbench.Effects}, Under: lockbench.LostReply,
				Why: "a session ends with its connection, while its owner works on",
			},
		},
	}
	for _, g := range []lockbench.Guarantee{lockbench.OwnerRelease, lockbench.LossReported, lockbench.Answers, lockbench.NoSpuriousRefusal, lockbench.Recovery} {
		whileItLasts.Also = append(whileItLasts.Also, g.At(lockbench.StateLoss))
	}
	session := design.Design{
		Name:    "postgres/session",
		Summary: "pg_try_advisory_lock in a session of its own; needs postgresql",
		Source:  manual, Claims: whileItLasts, Leaseless: true,
		Open: bySession.opener(),
	}
	transaction := session
	transaction.Name = "postgres/transaction"
	transaction.Summary = "pg_try_advisory_xact_lock in a transaction that stays open; needs postgresql"
	transaction.Open = byTransaction.opener()
	row := design.Design{
		Name:    "postgres/row",
		Summary: "a row with token, fence and lease by the server's clock, set by one INSERT ... ON CONFLICT; needs postgresql",
		Source:  "PostgreSQL manual, INSERT, ON CONFLICT clause",
		Claims:  lockbench.LeaseClaims(lockbench.Fencing),
		Granted: design.WholeMillis, Fences: true,
		Open: openRow,
	}
	// What was committed is there after a restart: all that it keeps, which needs no term of its own.
	row.Claims.Survives |= lockbench.StateLoss
	row.Claims.Also = slices.DeleteFunc(row.Claims.Also, func(c lockbench.Cell) bool { return c.Under == lockbench.StateLoss })
	all := []design.Design{session, transaction, row}
	for i := range all {
		all[i].Backend, all[i].Reacquire = postgres.Backend{}, design.Refused
	}
	return all
}

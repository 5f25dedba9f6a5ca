package postgres

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/internal/sessions"
	"github.com/lockbench/lockbench/internal/service/postgres"
)

const manual = "PostgreSQL manual, Advisory Locks"

// Designs returns the family: postgres/session, session-pooled, transaction and row.
func Designs() []design.Design {
	session := design.Design{
		Name:    "postgres/session",
		Summary: "pg_try_advisory_lock in a session of its own; needs postgresql",
		Source:  manual, Claims: sessions.Claims(), Leaseless: true,
		Backend: postgres.Backend{}, Reacquire: design.Refused,
		Open: opener(bySession),
	}
	pooled := session
	pooled.Name = "postgres/session-pooled"
	pooled.Summary = "postgres/session behind PgBouncer, whose clients share sessions: no lock; needs postgresql and pgbouncer"
	pooled.Source = "PgBouncer manual, SQL feature map for pooling modes"
	// Two owners that share a session both have the lock. A release in another session than the acquire
	// answers that there was no lock, and leaves the key locked, as the death of an owner does; one in a
	// session that the next owner uses frees its key. That leaves no guarantee to claim.
	pooled.Claims = lockbench.Claims{}
	pooled.Backend = postgres.Backend{Pooled: true}
	transaction := session
	transaction.Name = "postgres/transaction"
	transaction.Summary = "pg_try_advisory_xact_lock in a transaction that stays open; needs postgresql"
	transaction.Open = opener(byTransaction)
	row := design.Design{
		Name:    "postgres/row",
		Summary: "a row with token, fence and lease by the server's clock, set by one INSERT ... ON CONFLICT; needs postgresql",
		Source:  "PostgreSQL manual, INSERT, ON CONFLICT clause",
		Claims:  sessions.RowClaims(), Granted: design.WholeMillis, Fences: true,
		Backend: postgres.Backend{}, Reacquire: design.Refused,
		Open: openRow,
	}
	return []design.Design{session, pooled, transaction, row}
}

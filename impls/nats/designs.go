package nats

import (
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/nats"
)

// Designs returns the family: nats/kv and nats/kv-delete.
func Designs() []design.Design {
	kv := design.Design{
		Name:    "nats/kv",
		Summary: "a key of a JetStream bucket, created if absent with a lease; its revision is the fence, and is compared by release and extend",
		Source:  "NATS documentation, Key/Value Store",
		Claims:  lockbench.LeaseClaims(lockbench.Fencing),
		Granted: design.WholeSeconds, Fences: true, Reacquire: design.Refused,
		Backend: nats.Backend{},
		Open:    opener(jetstream.LastRevision),
	}
	plain := kv
	plain.Name = "nats/kv-delete"
	plain.Summary = "as nats/kv, but released by a Delete that compares nothing"
	// A plain Delete that comes late, because its owner does or because nobody waits for it any more, deletes
	// the key of the next owner. Its answer says that the lock was held.
	plain.Claims = kv.Claims.Without(lockbench.Exclusion, lockbench.LeaseKept, lockbench.OwnerRelease, lockbench.LossReported, lockbench.Effects)
	plain.Open = opener(func(uint64) jetstream.KVDeleteOpt { return nil })
	return []design.Design{kv, plain}
}

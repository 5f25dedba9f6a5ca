package serverwatch

import (
	"fmt"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
)

// A change is an incident of a server between two glances at it.
type change struct {
	says  string   // description for the user; empty for a part of the incident before
	notes []string // notes of its events, between its possible beginning and its end
}

// changeOf returns the incident that two successive glances at a server show, such as a restart. It
// returns false if they show none. An entry that is gone is no such incident, since others may have
// gone before: see [Watcher.deleted].
func changeOf(before, now design.Glance) (change, bool) {
	took := []string{string(fault.Failover), string(fault.ScriptFlush)} // replicas know no scripts
	switch started := before.Run != "" && now.Run != "" && before.Run != now.Run; {
	case started && now.Ancestor != "" && now.Ancestor == before.Data:
		return change{"another server took over that had been its replica", took}, true
	case now.Rival || before.Rival: // what the two grant in the meantime is divided, too
		return change{"", took}, true
	case started:
		return change{"it was started anew", []string{string(fault.ScriptFlush)}}, true
	case now.Role != before.Role:
		return change{fmt.Sprintf("it was a %s and became a %s", before.Role, now.Role), took}, true
	case now.Data != before.Data:
		return change{"it began to follow other data", took}, true
	case now.Evicted > before.Evicted:
		return change{fmt.Sprintf("it evicted %d keys for want of memory", now.Evicted-before.Evicted), nil}, true
	}
	return change{}, false
}

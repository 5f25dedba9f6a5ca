package faults

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/servers"
)

// longestServerPause is how long a server may be stopped at most: clients wait 5 s
// for a reply, and what they then give up could act at any later time.
const longestServerPause = 4 * time.Second

// Check tells why faults cannot be done in a run on a server of this kind, before
// anything starts: one that would harm a server that lockbench did not start, or a
// fault that needs a process of the server's own. It is nil when they can.
func Check(all []Fault, serverKind string) error {
	seen := map[Kind]bool{}
	for _, f := range all {
		t := f.Kind.trait()
		switch {
		case t == nil:
			_, err := find(string(f.Kind))
			return err
		case seen[f.Kind]:
			return fmt.Errorf("fault %s is asked for twice; hint: once, with one schedule", f.Kind)
		case t.owned != anyServer && serverKind == servers.External:
			return fmt.Errorf("fault %s would harm a server that lockbench did not start; hint: leave --redis out, and a private server is used", f.Kind)
		case t.owned == ownProcess && serverKind == servers.Embedded:
			return fmt.Errorf("fault %s needs a server process, and the embedded server is none; hint: install redis-server", f.Kind)
		case f.Kind == ServerPause && f.For > longestServerPause:
			return fmt.Errorf("fault %s: for=%v is longer than clients wait for a reply; hint: for=%v at most", f.Kind, f.For, longestServerPause)
		case t.target == ofClient && f.P == 0 && f.Every == 0 && f.At == 0:
			return fmt.Errorf("fault %s would never strike; hint: p=0.01, or at=2s", f.Kind)
		}
		seen[f.Kind] = true
	}
	return nil
}

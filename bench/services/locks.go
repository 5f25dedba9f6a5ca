package main

import (
	"strings"

	"github.com/lockbench/lockbench/adapters"
)

// Faults of clients, and those of services: whose restart changes nothing, of the others, and of those that
// take long to serve again.
const (
	ofClients = " --fault crash --fault pause --fault lost-reply --fault cut"
	keeps     = ofClients + " --fault server-pause --fault restart-aof"
	restarts  = ofClients + " --fault server-pause --fault restart"
	seldom    = ",at=500ms,every=10s,while=held"
	members   = ofClients + " --fault leader-lost" + seldom + " --fault restart-aof" + seldom
	slow      = ofClients + " --fault server-pause" + seldom + " --fault restart-aof" + seldom
)

// locks returns the locks. libraries is the folder of the libraries of adapters.
func locks(libraries string) (all []*lock) {
	design := func(service, faults, sound, broken string) {
		all = append(all,
			&lock{service: service, name: sound, selects: "--design " + sound, sound: true, faults: faults},
			&lock{service: service, name: broken, selects: "--design " + broken, faults: faults})
	}
	adapter := func(service, faults, name string) {
		command := adapters.MustShipped(name).Shell("adapters", libraries)
		broken := "LOCKBENCH_BREAK=grant; export LOCKBENCH_BREAK; " + command
		all = append(all,
			&lock{service: service, name: name, selects: "--adapter " + quoted(command), sound: true, faults: faults},
			&lock{service: service, name: name + ", broken by LOCKBENCH_BREAK=grant", selects: "--adapter " + quoted(broken), faults: faults})
	}
	design("Redis", keeps, "lua-token/strategy", "setnx-getset/naive")
	design("PostgreSQL", restarts, "postgres/session", "postgres/session-pooled")
	design("MariaDB", restarts, "mariadb/session", "mariadb/pooled")
	all[len(all)-1].apart = true
	design("NATS", keeps, "nats/kv", "nats/kv-delete")
	adapter("etcd", members, "etcd/mutex")
	adapter("ZooKeeper", slow, "curator/mutex")
	return all
}

func quoted(command string) string { return "'" + strings.ReplaceAll(command, "'", `'\''`) + "'" }

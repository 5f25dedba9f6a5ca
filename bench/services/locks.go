package main

import (
	"strings"

	"github.com/lockbench/lockbench/adapters"
)

// Faults of all services, of those whose restart changes nothing, and of the others.
const (
	common   = " --fault crash --fault pause --fault lost-reply --fault cut --fault server-pause"
	keeps    = common + " --fault restart-aof"
	restarts = common + " --fault restart"
)

// locks returns the locks. libraries is the folder of the libraries of adapters.
func locks(libraries string) (all []*lock) {
	design := func(service, faults, sound, broken string) {
		all = append(all,
			&lock{service: service, name: sound, selects: "--design " + sound, sound: true, faults: faults},
			&lock{service: service, name: broken, selects: "--design " + broken, faults: faults})
	}
	adapter := func(service, faults, name string) {
		for _, s := range adapters.AllShipped() {
			if s.Name != name {
				continue
			}
			command := s.Shell("adapters", libraries)
			broken := "LOCKBENCH_BREAK=grant; export LOCKBENCH_BREAK; " + command
			all = append(all,
				&lock{service: service, name: name, selects: "--adapter " + quoted(command), sound: true, faults: faults},
				&lock{service: service, name: name + ", broken by LOCKBENCH_BREAK=grant", selects: "--adapter " + quoted(broken), faults: faults})
		}
	}
	design("Redis", keeps, "lua-token/strategy", "setnx-getset/naive")
	design("PostgreSQL", restarts, "postgres/session", "postgres/session-pooled")
	design("MariaDB", restarts, "mariadb/session", "mariadb/pooled")
	all[len(all)-1].apart = true
	design("NATS", keeps, "nats/kv", "nats/kv-delete")
	adapter("etcd", keeps, "etcd/mutex")
	adapter("ZooKeeper", keeps, "curator/mutex")
	return all
}

func quoted(command string) string { return "'" + strings.ReplaceAll(command, "'", `'\''`) + "'" }

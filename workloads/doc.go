// Package workloads says what the clients of a run do: which key they choose,
// for how long they hold it, what they read and write while they do. A workload
// drives a lock through the contract alone; it sees neither the recorder nor the
// network, so the same clients run live (package load) and in virtual time.
//
// Every choice comes from the options' seed: equal options make equal choices,
// whatever the lock answers.
package workloads

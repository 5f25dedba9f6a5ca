// Package adapter drives a lock in any language: an adapter, which is a program around the lock,
// answers requests to acquire and release by the adapter protocol, version 1.
//
// The protocol is JSON Lines, one object a line of at most 64 KiB, over standard input and output.
// The driver says hello, and the adapter answers with what it is and can; then each request has a
// number, and each answer the number of its request. Standard error is a log. [Design] starts the
// adapter once and makes a design of its answer; each [design.Process] of the design is a process of
// the adapter. docs/adapter-protocol.md describes the messages, and adapter.schema.json beside it is
// their schema.
//
// An answer counts when lockbench reads it: the times of a history are the driver's, from before a
// request is written until its answer is read, unless [Settings] ask for the adapter's clock
// (stamps.go). A process of the adapter reaches its server through a
// relay of its own.
//
// [Explorable] is about explorations, where a bridge takes the place of the relay (explored.go).
package adapter

// Package machines makes the load of runs on several machines. A [Coordinator] plans and judges; an [Agent]
// on each machine makes its share of each run and records it. They speak over a NATS server, which the
// coordinator starts as a child, or which is the user's.
//
// An order describes one run completely, as one document. The coordinator sends it to all agents; when all
// are ready it names the instant at which the clients begin. It then copies the histories of the agents
// while they grow, by requests for blocks from an offset, so that a broken connection loses nothing.
//
// Every quarter of a second an agent asks for the coordinator's clock. The question tells that the agent
// lives and how far its run is, the answer tells that the coordinator lives, and both together bound the
// difference of the two clocks. After four intervals of silence the coordinator says so. An agent that is
// silent for five seconds, and until all others have ended, is lost: its history then ends early, and
// nothing is concluded from the rest. An agent that has lost the coordinator ends its run and keeps its
// files, which lockbench merge joins.
//
// Servers that the coordinator has started listen to its machine alone. Agents on other machines reach them
// through a tunnel. The coordinator injects the faults of these servers. Each step of a fault that concerns
// clients is a request to all agents, and the fault goes on when all have recorded it, so no clocks are compared.
//
// With shared keys all machines have one prefix, and an agent removes no key before the coordinator has told it that the
// clients of all machines have stopped. While they run it asks for the coordinator's raw clock, and records the answers.
// Question and answer have connections of their own.
//
// The order of the files:
//
//   - message.go: the messages between coordinator and agents
//   - clock.go: the difference of two clocks
//   - connect.go: the connection, requests and answers
//   - coordinator.go, machine.go: the coordinator, and a machine as it sees it
//   - faults.go: the faults of servers
//   - sharedkeys.go: what the coordinator does for keys that all machines use
//   - agent.go, recording.go: the agent, and a run that it records
//   - tunnel.go: the way of agents to servers that the coordinator has started
//   - direct.go: the way of agents on the coordinator's machine
package machines

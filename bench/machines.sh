#!/bin/bash
# Measures lockbench run --agents with two agents on this machine: their rate beside one process with as many
# clients and beside two that make a share each, the processor time of the coordinator, and the skew of the
# start. Then kills agents, coordinators and servers of a NATS cluster at random moments, in every other run
# while private servers are restarted, and checks the records and processes that are left. Exits with 1 if
# something is wrong, and keeps the files of such runs in a folder that it names. Needs Linux and redis-server.
#
#   bench/machines.sh                                about ten minutes
#   ROUNDS=5 KILLS=0 CLUSTER=0 bench/machines.sh     the rate only
#
# ROUNDS is how often these are compared, KILLS how many agents are killed, and as many coordinators,
# CLUSTER how many servers of NATS clusters, and how many are suspended. LEAST is the smallest ratio that is
# right, of the rates of agents and one process while the processors have time to spare.
set -euo pipefail
cd "$(dirname "$0")/.."
go run ./bench/machines -rounds "${ROUNDS:-5}" -kills "${KILLS:-20}" -cluster "${CLUSTER:-5}" -least "${LEAST:-0.9}"

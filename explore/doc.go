// Package explore finds the interleaving that breaks a lock. It runs unmodified
// lock code in virtual time against an embedded server, stops every server command
// at a gate and decides, step by step, whose command runs next, whether time
// passes and what goes wrong. Each schedule is recorded like a live run and judged
// by the same checker; a failing one is shrunk, shown and can be replayed.
package explore

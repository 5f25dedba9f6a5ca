// Package pending keeps the state of a history under judgement besides its holds: operations under
// way and their clients ([Clients], [Waits], [Fences], [Record], [Renewals]), faults and their
// later effects ([Faults], [Effects], [Calls]), and since when a key has certainly been free
// ([Availability]).
//
// If the reply to a command was lost, the command may run late, and the state that it leaves on the
// server may last until another client is granted the key. This package bounds what may act and
// until when; the checker decides which holds that touches and which conclusions follow.
package pending

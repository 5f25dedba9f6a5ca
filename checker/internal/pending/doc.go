// Package pending keeps the state of a history under judgement that is not a hold: operations that
// are under way and their clients ([Clients], [Waits], [Fences], [Record], [Renewals]), faults and
// their later effects ([Faults], [Effects], [Calls]), and since when a key has certainly been free
// ([Availability]).
//
// A command whose reply was lost may run late, and what it leaves on the server may stay until
// another owner is granted the key. The package says what may act and until when; which holds that
// touches, and what follows, is decided by the checker.
package pending

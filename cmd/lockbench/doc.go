// Command lockbench runs distributed lock designs against a server, judges the recorded operations,
// and shows how fast each design was and which guarantees it kept. It also explores them, one server
// command at a time in virtual time, and shows a schedule that breaks them.
//
// Results go to standard output, progress and errors to standard error. The exit code is 0 if every
// claim that could be exercised was held, 1 if a claim was broken, 2 for an error of usage or
// set-up, 3 if the result is inconclusive, and 4 if a threshold failed and nothing worse happened.
//
// A verb has a file and an options struct. The verbs run, compare --run and limit turn their flags
// into a plan of package runner (runflags.go, points.go), run it (runPlan) and write the result
// (outflag.go); check hands files to runner.Judge. Sinks show the events of a run while it lasts:
// progress, --ui, --metrics and --out hlog. explore and matrix have their sessions in
// internal/explore/exploring and internal/cli/matrix. runfile.go, vocabulary.go and complete.go
// know the values of the flags, flaghelp.go their groups in help.
package main

// Package subprocess starts programs that end with lockbench, and suspends, resumes and kills them
// together with the programs that they have started.
package subprocess

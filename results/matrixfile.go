package results

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Command returns the command line that makes m again, as far as its settings determine m.
// Passwords of servers are left out.
func (m *Matrix) Command() string {
	parts := []string{"lockbench", "matrix"}
	parts = append(parts, m.Designs()...)
	parts = append(parts, "--seed", strconv.FormatUint(m.Settings.Seed, 10), "--drivers", strings.Join(m.Settings.Drivers, ","))
	if m.Settings.Schedules > 0 {
		parts = append(parts, "--schedules", strconv.FormatInt(m.Settings.Schedules, 10))
	}
	if m.Settings.BudgetNS > 0 {
		parts = append(parts, "--budget", time.Duration(m.Settings.BudgetNS).String())
	}
	for _, address := range m.externals() {
		parts = append(parts, "--server", Quote(address))
	}
	return strings.Join(parts, " ")
}

// externals lists the addresses of servers that existed before the matrix was made.
func (m *Matrix) externals() (all []string) {
	for i := range m.Rows {
		for _, p := range m.Rows[i].Parts {
			if p.Server != nil && p.Server.Kind == "external" && !slices.Contains(all, p.Server.Address) {
				all = append(all, p.Server.Address)
			}
		}
	}
	return all
}

// Quote returns path as one word of a POSIX shell command line.
func Quote(path string) string {
	if strings.ContainsAny(path, " \t'\"$&;()*?<>|\\") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

package app

import "runtime/debug"

const (
	// memoryGoal is how many bytes the program tries to stay below, what SQLite
	// keeps beside not counted: the whole process stays below 128 MB while it
	// reads. It takes more where it must.
	memoryGoal = 60 << 20
	// garbage is how much garbage may gather below that, in percent of what is in
	// use: at the usual 100 the little that is in use is looked through 20 times a
	// second under load. Any order of 200,000 is read 10 to 15 % more often so.
	garbage = 400
)

// collectLess has garbage collected less often than usual, unless the operator
// has set GOGC or GOMEMLIMIT.
func (p *process) collectLess() {
	for _, variable := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := p.lookupEnv(variable); set {
			return
		}
	}
	debug.SetGCPercent(garbage)
	debug.SetMemoryLimit(memoryGoal)
}

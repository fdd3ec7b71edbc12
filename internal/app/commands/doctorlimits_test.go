package commands

import (
	"testing"
	"time"
)

// TestDoctorLimits checks from when on a doctor warns.
func TestDoctorLimits(t *testing.T) {
	t.Parallel()
	clock := func(apart time.Duration) func(*doctor) { return func(d *doctor) { d.checkClock(apart) } }
	free := func(free, total uint64) func(*doctor) {
		return func(d *doctor) { d.checkFree("disk", "/", free, total, "") }
	}
	for name, c := range map[string]struct {
		check func(*doctor)
		want  string
	}{
		"same clock":           {clock(-time.Millisecond), statusOK},
		"clock 2 s apart":      {clock(2 * time.Second), statusWarning},
		"clock a minute apart": {clock(time.Minute), statusProblem},
		"a tenth is free":      {free(10, 100), statusOK},
		"less is free":         {free(9, 100), statusWarning},
		"almost nothing":       {free(1, 100), statusProblem},
		"no inodes":            {free(0, 0), ""},
		"too many connections": {func(d *doctor) { d.flags.MaxConnections = "1000000"; d.checkLimits() }, statusProblem},
		"every address":        {func(d *doctor) { d.flags.Listen = ":80"; d.checkListen() }, statusWarning},
		"loopback":             {func(d *doctor) { d.flags.Listen = "127.0.0.1:80"; d.checkListen() }, ""},
	} {
		d := &doctor{process: &process{}}
		c.check(d)
		got := ""
		if len(d.found) > 0 {
			got = d.found[0].Status
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %s", name, d.found, c.want)
		}
	}
}

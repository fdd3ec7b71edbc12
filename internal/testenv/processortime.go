package testenv

import (
	"syscall"
	"testing"
	"time"
)

// ProcessorTime returns the processor time that this process has used. Other programs do
// not change it, unlike the time of a benchmark.
func ProcessorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

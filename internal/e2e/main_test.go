package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	os.Exit(s3test.Main(func() int {
		return pgtest.Run(func() int { return untilEnd.end(m.Run()) }, apptest.SetUp)
	}))
}

// untilEnd is the testing.TB of the servers that scenarios share.
var untilEnd = new(suite)

// suite is a testing.TB that lasts as long as all tests. It has what a server uses.
type suite struct {
	testing.TB // nil
	failed     bool
	cleanups   []func()
}

// end ends what the tests have left, and returns the exit code.
func (s *suite) end(code int) int {
	s.failed = s.failed || code != 0
	for _, fn := range slices.Backward(s.cleanups) {
		fn()
	}
	if s.failed {
		return max(code, 1)
	}
	return code
}

func (s *suite) Helper()                  {}
func (s *suite) Context() context.Context { return context.Background() }
func (s *suite) Cleanup(fn func())        { s.cleanups = append(s.cleanups, fn) }
func (s *suite) Failed() bool             { return s.failed }

func (s *suite) Logf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func (s *suite) Errorf(format string, args ...any) {
	s.failed = true
	s.Logf(format, args...)
}

func (s *suite) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (s *suite) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (s *suite) TempDir() string {
	dir, err := os.MkdirTemp("", "e2e")
	if err != nil {
		panic(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

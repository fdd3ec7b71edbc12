// Package testenv has what tests of all parts share, and knows nothing of the service:
// which of them run and for how long, checks of values and of responses, and the ports,
// servers and disks that they need.
//
// "go test ./..." runs the tests that need only Go and take little time.
// scripts/test sets MERCHANT_ORDERS_TEST=all and runs all tests. A test that
// needs more calls Need, Long or Program first: it is skipped in the first case,
// and never in the second. scripts/soak sets MERCHANT_ORDERS_TEST=soak, which
// makes tests with random faults run for longer; see Count. scripts/release-check sets
// MERCHANT_ORDERS_TEST=release; see Release.
package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// Variable is the environment variable that decides. Its values are empty, "all",
// "soak" and "release".
const Variable = "MERCHANT_ORDERS_TEST"

// releaseTests is the value of Variable with which the tests of a release run.
const releaseTests = "release"

// All reports whether all tests run.
func All() bool { return os.Getenv(Variable) == "all" || IsRelease() || Soak() }

// Soak reports whether tests with random faults run for longer.
func Soak() bool { return os.Getenv(Variable) == "soak" }

// Count returns how many rounds a test runs, or how much data it has: soak for
// a soak test, else usual.
func Count(usual, soak int) int {
	if Soak() {
		return soak
	}
	return usual
}

// Need skips a test that needs more than Go. what names what it needs, such as
// "a PostgreSQL server".
func Need(t testing.TB, what string) {
	t.Helper()
	if !All() {
		t.Skipf("needs %s; set %s=all to run it", what, Variable)
	}
}

// Long skips a test that takes long. what names what it does for so long.
func Long(t testing.TB, what string) {
	t.Helper()
	if !All() {
		t.Skipf("takes long: %s; set %s=all to run it", what, Variable)
	}
}

// IsRelease reports whether scripts/release-check runs the tests.
func IsRelease() bool { return os.Getenv(Variable) == releaseTests }

// Release skips a test that only scripts/release-check runs, because it takes long: the
// tests of the files of a release, and those with large programs of others.
func Release(t testing.TB) {
	t.Helper()
	if !IsRelease() {
		t.Skipf("takes long; set %s=%s to run it", Variable, releaseTests)
	}
}

// Program skips a test that needs a program beside Go. If all tests run, the
// test fails if the program is not installed. Program returns its path.
func Program(t testing.TB, name, debianPackage string) string {
	t.Helper()
	Need(t, "the program "+name)
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v (Debian: apt-get install %s)", err, debianPackage)
	}
	return path
}

// Unable ends a test that cannot run on this machine, for the given reason: it
// is skipped, but fails if all tests run.
func Unable(t testing.TB, format string, args ...any) {
	t.Helper()
	if All() {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

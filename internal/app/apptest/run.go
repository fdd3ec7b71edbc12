package apptest

import (
	"bytes"
	"strings"
	"testing"

	"merchantorders/internal/app/commands"
)

// Result is the result of a command.
type Result struct {
	Code           int // exit code
	Stdout, Stderr string
}

// Run runs a command line in this process, with stdin as standard input and an
// empty environment.
func Run(t testing.TB, stdin string, args ...string) Result {
	t.Helper()
	return runIn(t, nil, stdin, args...)
}

// runIn is Run with an environment.
func runIn(t testing.TB, environ []string, stdin string, args ...string) Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := commands.Run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr, environ)
	return Result{Code: code, Stdout: stdout.String(), Stderr: stderr.String()}
}

// mustRun is like Run; the test fails unless the command succeeds.
func mustRun(t testing.TB, stdin string, args ...string) Result {
	t.Helper()
	result := Run(t, stdin, args...)
	if result.Code != 0 {
		t.Fatalf("merchant-orders %s: exit code %d\n%s%s", strings.Join(args, " "), result.Code, result.Stdout, result.Stderr)
	}
	return result
}

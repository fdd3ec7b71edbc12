package apptest

import (
	"bytes"
	"strings"
	"testing"

	"merchantorders/internal/app"
)

// Result is what a command left behind.
type Result struct {
	Code           int // exit code
	Stdout, Stderr string
}

// NoEnv is an environment without variables, for app.Run.
func NoEnv(string) (string, bool) { return "", false }

// Run runs one command in this process, as if typed, with stdin as standard
// input. The environment's settings are not looked at.
func Run(t testing.TB, stdin string, args ...string) Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := app.Run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr, NoEnv)
	return Result{Code: code, Stdout: stdout.String(), Stderr: stderr.String()}
}

// mustRun is Run for a command that has to succeed.
func mustRun(t testing.TB, stdin string, args ...string) Result {
	t.Helper()
	result := Run(t, stdin, args...)
	if result.Code != 0 {
		t.Fatalf("merchant-orders %s: exit code %d\n%s%s", strings.Join(args, " "), result.Code, result.Stdout, result.Stderr)
	}
	return result
}

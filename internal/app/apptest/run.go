package apptest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"merchantorders/internal/app/commands"
)

// Result is the result of a command.
type Result struct {
	Code           int // exit code
	Stdout, Stderr string

	command string // for messages
}

// WantOut reports another exit code or standard output.
func (r Result) WantOut(t testing.TB, code int, stdout string) {
	t.Helper()
	if r.Code != code || r.Stdout != stdout {
		t.Errorf("%s, want exit code %d and standard output %q", r, code, stdout)
	}
}

// WantErr reports another exit code or standard error, or any standard output.
func (r Result) WantErr(t testing.TB, code int, stderr string) {
	t.Helper()
	if r.WantOut(t, code, ""); r.Stderr != stderr {
		t.Errorf("%s, want standard error %q", r, stderr)
	}
}

// WantText reports another exit code, or a text that is in neither output.
func (r Result) WantText(t testing.TB, code int, texts ...string) {
	t.Helper()
	for _, text := range append(texts, "") {
		if r.Code != code || !strings.Contains(r.Stdout+r.Stderr, text) {
			t.Errorf("%s, want exit code %d and %q", r, code, text)
		}
	}
}

// String returns the command and its result.
func (r Result) String() string {
	return fmt.Sprintf("merchant-orders %s: exit code %d, standard output %q, standard error %q", r.command, r.Code, r.Stdout, r.Stderr)
}

// Run runs a command line in this process, with stdin as standard input and an
// empty environment.
func Run(t testing.TB, stdin string, args ...string) Result {
	t.Helper()
	return RunIn(t, nil, stdin, args...)
}

// RunIn is Run with an environment, like os.Environ.
func RunIn(t testing.TB, environ []string, stdin string, args ...string) Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := commands.Run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr, environ)
	return Result{Code: code, Stdout: stdout.String(), Stderr: stderr.String(), command: strings.Join(args, " ")}
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

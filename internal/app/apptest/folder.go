package apptest

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// MerchantID is the id of the merchant that Start adds.
const MerchantID = 355

// Folder is a data folder. Its commands work with and without a running server.
type Folder struct {
	Data string // path
	// Settings are further flags of every command: database and storage. Empty:
	// both are in the folder.
	Settings []string
	// Environ are the environment variables of Run and of the servers, like os.Environ.
	Environ []string
}

// arguments puts the settings before a command.
func (f Folder) arguments(command ...string) []string {
	return slices.Concat([]string{"--data", f.Data}, f.Settings, command)
}

// Run runs one command on the folder; see Run.
func (f Folder) Run(t testing.TB, stdin string, args ...string) Result {
	t.Helper()
	return RunIn(t, f.Environ, stdin, f.arguments(args...)...)
}

// Merchant adds a merchant named "Store <id>" unless it exists, and returns a new
// token of it with all scopes.
func (f Folder) Merchant(t testing.TB, id int64) string {
	t.Helper()
	text := strconv.FormatInt(id, 10)
	added := f.Run(t, "", "merchant", "add", "--id", text, "--name", "Store "+text)
	if added.Code != 0 && !strings.Contains(added.Stderr, "exists already") {
		t.Fatalf("add merchant %d: %s", id, added.Stderr)
	}
	return f.Token(t, "--merchant", text)
}

// Token creates a token with flags of the command token create.
func (f Folder) Token(t testing.TB, flags ...string) string {
	t.Helper()
	args := append([]string{"token", "create"}, flags...)
	return strings.TrimSpace(mustRun(t, "", f.arguments(args...)...).Stdout)
}

// Import imports order documents, each on one line. The test fails unless all are
// created or unchanged.
func (f Folder) Import(t testing.TB, documents ...[]byte) {
	t.Helper()
	mustRun(t, string(bytes.Join(documents, []byte("\n"))), f.arguments("import", "-")...)
}

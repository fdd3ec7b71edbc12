package apptest

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// MerchantID is the merchant that Start adds.
const MerchantID = 355

// Folder is a data folder. Its commands work beside a running server and
// without one.
type Folder struct {
	Data string // path
	// Settings are flags of every command beside --data: where database and
	// storage are. None: both are in the folder.
	Settings []string
}

// arguments puts the settings before a command.
func (f Folder) arguments(command ...string) []string {
	return slices.Concat([]string{"--data", f.Data}, f.Settings, command)
}

// Run runs one command on the folder; see Run.
func (f Folder) Run(t testing.TB, stdin string, args ...string) Result {
	t.Helper()
	return Run(t, stdin, f.arguments(args...)...)
}

// Merchant adds a merchant named "Store <id>" where it is not there, and
// returns a new token of it with all scopes.
func (f Folder) Merchant(t testing.TB, id int64) string {
	t.Helper()
	text := strconv.FormatInt(id, 10)
	added := f.Run(t, "", "merchant", "add", "--id", text, "--name", "Store "+text)
	if added.Code != 0 && !strings.Contains(added.Stderr, "exists already") {
		t.Fatalf("add merchant %d: %s", id, added.Stderr)
	}
	return f.Token(t, "--merchant", text)
}

// Token makes a token with the flags of token create.
func (f Folder) Token(t testing.TB, flags ...string) string {
	t.Helper()
	args := append([]string{"token", "create"}, flags...)
	return strings.TrimSpace(mustRun(t, "", f.arguments(args...)...).Stdout)
}

// Import takes in order documents, each on one line. All have to be created
// or unchanged.
func (f Folder) Import(t testing.TB, documents ...[]byte) {
	t.Helper()
	mustRun(t, string(bytes.Join(documents, []byte("\n"))), f.arguments("import", "-")...)
}

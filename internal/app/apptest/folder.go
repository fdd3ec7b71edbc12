package apptest

import (
	"bytes"
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
}

// Run runs one command on the folder; see Run.
func (f Folder) Run(t testing.TB, stdin string, args ...string) Result {
	t.Helper()
	return Run(t, stdin, append([]string{"--data", f.Data}, args...)...)
}

// Merchant adds a merchant named "Store <id>" where it is not there, and
// returns a new token of it with all scopes.
func (f Folder) Merchant(t testing.TB, id int64) string {
	t.Helper()
	text := strconv.FormatInt(id, 10)
	added := f.Run(t, "", "merchant", "add", "--id", text, "--name", "Store "+text)
	if added.Code != 0 && !strings.Contains(added.Stderr, "is there already") {
		t.Fatalf("add merchant %d: %s", id, added.Stderr)
	}
	return f.Token(t, "--merchant", text)
}

// Token makes a token with the flags of token create.
func (f Folder) Token(t testing.TB, flags ...string) string {
	t.Helper()
	args := append([]string{"--data", f.Data, "token", "create"}, flags...)
	return strings.TrimSpace(mustRun(t, "", args...).Stdout)
}

// Import takes in order documents, each on one line. All have to be created
// or unchanged.
func (f Folder) Import(t testing.TB, documents ...[]byte) {
	t.Helper()
	mustRun(t, string(bytes.Join(documents, []byte("\n"))), "--data", f.Data, "import", "-")
}

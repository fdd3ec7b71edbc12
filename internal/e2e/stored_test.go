package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

var store = flag.String("store", "", "version, such as 1.0.0, as which this build is stored in testdata")

// Files of a stored installation, in the folder testdata/stored/VERSION.
const (
	storedData      = "data"          // the data folder with SQLite; its database is compressed
	storedDatabase  = "orders.db.gz"  // in it
	storedPostgres  = "postgres.sql"  // a copy of the database, as pg_dump writes it
	storedBackup    = "backup.tar.gz" // as the command backup writes it
	storedConfig    = "config.yaml"   // settings of serve
	storedTokens    = "tokens.json"
	storedResponses = "responses.json"
)

// storedInstallation is an installation that a released version has made.
type storedInstallation struct {
	folder    string
	tokens    map[string]string // by who has them: merchant, manager or operator
	responses map[string]json.RawMessage
}

// storedPaths are the requests whose responses are stored. That of /operator/events has
// another order in a copy, which gives no positions to events.
var storedPaths = []string{
	"/api/orders", "/api/orders?status=G", "/api/orders/900001", "/api/orders/900002",
	"/v2/orders", "/v2/orders?state=registered&itemsPerPage=2", "/v2/orders/SF-2026-0000001", "/v2/orders/SF-2026-0000002",
	"/v2/orders/SF-2026-0000001/events", "/v2/orders/unanswered", "/v2/events", "/v2/tokens", "/v2/webhooks",
	"/storage/local/merchant-orders/invoices/SF-2026-0000001/a.pdf",
	"/operator/orders?email=buyer4@example.com", "/operator/orders/SF-2026-0000004", "/operator/merchants", "/operator/audit",
}

// storedBaseURL is in the bodies of responses.
const storedBaseURL = "https://orders.example.com"

// storedSettings are flags of a server whose responses do not depend on where it runs.
var storedSettings = []string{"--base-url", storedBaseURL, "--admin-listen", "127.0.0.1:0", "--no-webhooks"}

// TestStoredInstallations opens what released versions have stored: the data folder, the
// dump of PostgreSQL and the backup. The responses must have every member that they had,
// writes must work, and check must find nothing. The settings must be accepted.
func TestStoredInstallations(t *testing.T) {
	t.Parallel()
	if *store != "" {
		storeInstallation(t, *store)
	}
	folders, err := filepath.Glob("testdata/stored/*")
	testenv.NoError(t, err)
	if len(folders) == 0 {
		t.Error("no version has stored an installation")
	}
	for _, folder := range folders {
		in := storedInstallation{folder: folder}
		in.read(t, storedTokens, &in.tokens)
		in.read(t, storedResponses, &in.responses)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Run("sqlite", func(t *testing.T) { in.serve(t, in.data(t)) })
			t.Run("postgres", func(t *testing.T) {
				f := in.data(t)
				url := pgtest.Empty(t)
				execute(t, "psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--file="+filepath.Join(folder, storedPostgres), url)
				f.Settings = []string{"--database", url, "--storage", "file://" + f.Data + "/files"}
				in.serve(t, f)
			})
			t.Run("backup", func(t *testing.T) {
				f := dataFolder(t)
				f.Run(t, "", "restore", filepath.Join(folder, storedBackup)).WantText(t, 0, "no findings")
				in.serve(t, f)
			})
			t.Run("settings", func(t *testing.T) {
				f := in.data(t)
				f.Settings = []string{"--config", filepath.Join(folder, storedConfig)}
				f.Serve(t)
			})
		})
	}
}

func (in storedInstallation) read(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(in.folder, name))
	testenv.NoError(t, err)
	testenv.NoError(t, json.Unmarshal(text, into))
}

// data returns a copy of the data folder.
func (in storedInstallation) data(t *testing.T) apptest.Folder {
	t.Helper()
	f := dataFolder(t)
	testenv.NoError(t, os.CopyFS(f.Data, os.DirFS(filepath.Join(in.folder, storedData))))
	compressed, err := os.Open(filepath.Join(f.Data, storedDatabase))
	testenv.NoError(t, err)
	defer compressed.Close()
	unpacked, err := gzip.NewReader(compressed)
	testenv.NoError(t, err)
	content, err := io.ReadAll(unpacked)
	testenv.NoError(t, err)
	testenv.NoError(t, os.WriteFile(filepath.Join(f.Data, "orders.db"), content, 0o600))
	testenv.NoError(t, os.Remove(compressed.Name()))
	return f
}

// serve compares the responses of a server on a folder with the stored ones, and changes
// an order.
func (in storedInstallation) serve(t *testing.T, f apptest.Folder) {
	t.Helper()
	s := f.Serve(t, storedSettings...)
	for path, want := range in.responses {
		if got := in.get(t, s, path); !hasAll(got, decoded(t, want)) {
			t.Errorf("%s: got %s, want all of %s", path, asJSON(t, got), want)
		}
	}
	in.send(t, s, http.MethodPatch, "/v2/orders/SF-2026-0000012/accept", "").Want(t, "accept", http.StatusOK, `{"success":true}`)
	s.Stop(t)
	f.Run(t, "", "check").WantText(t, 0, "no findings")
}

// send sends a request with the token that it needs.
func (in storedInstallation) send(t *testing.T, s *apptest.Server, method, path, body string, header ...string) testenv.Response {
	t.Helper()
	address, who := s.BaseURL, "merchant"
	switch {
	case strings.HasPrefix(path, "/operator/"):
		address, who = s.AdminURL(), "operator"
	case strings.HasPrefix(path, "/v2/tokens"), strings.HasPrefix(path, "/v2/webhooks"):
		who = "manager"
	}
	return testenv.Send(t, in.tokens[who], method, address+path, body, header...)
}

// get returns the decoded body of a response, without what differs between servers on the
// same data. A body that is not JSON is text.
func (in storedInstallation) get(t *testing.T, s *apptest.Server, path string) any {
	t.Helper()
	got := in.send(t, s, http.MethodGet, path, "")
	got.WantStatus(t, http.StatusOK)
	if !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
		return got.Body
	}
	return lasting(decoded(t, []byte(got.Body)))
}

// lasting returns a JSON value without the members that another server shows in other
// ways. In an inspected order, history is the list of its events.
func lasting(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if _, isList := member.([]any); !isList && slices.Contains([]string{"history", "next", "lastUsedAt", "lastUsedFrom"}, name) {
				delete(value, name)
			}
			lasting(member)
		}
	case []any:
		for _, member := range value {
			lasting(member)
		}
	}
	return value
}

// execute runs a program and returns its standard output.
func execute(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	output, err := exec.Command(program, args...).Output()
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return output
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	testenv.NoError(t, decoder.Decode(&value))
	return value
}

// hasAll reports whether a JSON value has everything that another one has. Objects may
// have further members.
func hasAll(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for name, value := range want {
			member, exists := object[name]
			ok = ok && exists && hasAll(member, value)
		}
		return ok
	case []any:
		list, ok := got.([]any)
		return ok && slices.EqualFunc(list, want, hasAll)
	}
	return got == want
}

// storeInstallation makes an installation with rows of every kind and stores it as that of
// a version, unless that was released.
func storeInstallation(t *testing.T, version string) {
	t.Helper()
	if tag := execute(t, "git", "tag", "--list", "v"+version); len(tag) > 0 {
		t.Fatalf("version %s was released, so its stored installation must not change", version)
	}
	in := storedInstallation{folder: filepath.Join("testdata/stored", version)}
	f := dataFolder(t)
	in.tokens = map[string]string{
		"merchant": f.Merchant(t, apptest.MerchantID),
		"manager":  f.Token(t, "--merchant", "355", "--scopes", "orders:read,tokens,webhooks"),
		"operator": f.Token(t, "--operator"),
	}
	f.Merchant(t, apptest.MerchantID+1)
	documents := make([][]byte, 16)
	for i := range documents {
		documents[i] = ingesttest.Document(i+1, func(document map[string]any) {
			document["merchantId"] = apptest.MerchantID + int64(i/13)
			if i < 4 {
				document["state"] = "registered"
			}
		})
	}
	f.Import(t, documents...)
	s := f.Serve(t, storedSettings...)
	in.fill(t, s)
	in.responses = make(map[string]json.RawMessage)
	for _, path := range storedPaths {
		in.responses[path] = json.RawMessage(asJSON(t, in.get(t, s, path)))
	}
	s.Stop(t)
	in.write(t, f)
}

// fill changes the first four orders, which are new.
func (in storedInstallation) fill(t *testing.T, s *apptest.Server) {
	t.Helper()
	order := func(n int) string { return "/v2/orders/" + ingesttest.Reference(n) }
	for i, r := range []struct{ method, path, body string }{
		{"PATCH", order(1) + "/accept", ""},
		{"POST", order(1) + "/invoices", `{"filename":"a.pdf","contentBase64":"Zmlyc3Q="}`},
		{"POST", order(1) + "/invoices", `{"filename":"b.png","contentBase64":"c2Vjb25k"}`},
		{"DELETE", order(1) + "/invoices/2", ""},
		{"POST", order(1) + "/invoices/1/link", ""},
		{"PATCH", order(2) + "/reject", `{"status":"D","reason":"out-of-stock"}`},
		{"PATCH", order(3), `{"merchantReference":"2026/0815","merchantNote":"Δώρο"}`},
		{"POST", "/v2/webhooks", `{"url":"https://hooks.example.com/a","types":["order.created"],"after":0}`},
		{"PATCH", "/v2/webhooks/1", `{"enabled":false}`},
		{"POST", "/v2/tokens", `{"scopes":["orders:read"],"label":"reader"}`},
		{"POST", "/operator/merchants/355/orders/" + ingesttest.Reference(4) + "/state", `{"state":"canceled","reason":"customer-request"}`},
		{"POST", "/operator/merchants/356/suspend", `{"reason":"Contract ended"}`},
		{"POST", "/operator/customers/erase", `{"email":"buyer5@example.com"}`},
	} {
		got := in.send(t, s, r.method, r.path, r.body, "Idempotency-Key", fmt.Sprintf("change %d", i))
		if got.Status/100 != 2 {
			t.Fatalf("%s %s: %d %s", r.method, r.path, got.Status, got.Body)
		}
	}
}

// restriction is a line of a dump with a random key.
var restriction = regexp.MustCompile(`(?m)^\\(un)?restrict .*\n`)

// write stores an installation, and a copy of it in PostgreSQL.
func (in storedInstallation) write(t *testing.T, f apptest.Folder) {
	t.Helper()
	testenv.NoError(t, os.RemoveAll(in.folder))
	put := func(name string, content []byte) {
		path := filepath.Join(in.folder, name)
		testenv.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		testenv.NoError(t, os.WriteFile(path, content, 0o666))
	}
	putJSON := func(name string, value any) {
		text, err := json.MarshalIndent(value, "", "\t")
		testenv.NoError(t, err)
		put(name, append(text, '\n'))
	}
	putJSON(storedTokens, in.tokens)
	putJSON(storedResponses, in.responses)
	put(storedConfig, []byte(storedConfigText))
	f.Run(t, "", "backup", filepath.Join(in.folder, storedBackup)).WantText(t, 0, "backed up")

	url := pgtest.Empty(t)
	f.Run(t, "", "copy", "--to-database", url, "--to-storage", "file://"+t.TempDir()+"/files").WantText(t, 0)
	dump := execute(t, "pg_dump", "--no-owner", "--no-privileges", url)
	put(storedPostgres, restriction.ReplaceAll(dump, nil))

	testenv.NoError(t, os.CopyFS(filepath.Join(in.folder, storedData), os.DirFS(f.Data)))
	database := filepath.Join(in.folder, storedData, "orders.db")
	content, err := os.ReadFile(database)
	testenv.NoError(t, err)
	var compressed bytes.Buffer
	packer := gzip.NewWriter(&compressed)
	_, err = packer.Write(content)
	testenv.NoError(t, err)
	testenv.NoError(t, packer.Close())
	put(filepath.Join(storedData, storedDatabase), compressed.Bytes())
	left, err := filepath.Glob(database + "*")
	testenv.NoError(t, err)
	for _, path := range left {
		if !strings.HasSuffix(path, ".gz") {
			testenv.NoError(t, os.Remove(path))
		}
	}
}

// storedConfigText has the settings of serve that need nothing else.
const storedConfigText = `base-url: https://orders.example.com
storage-url: https://files.example.com/invoices
error-codes: table
max-token-lifetime: 365d
log-level: warn
admin-listen: 127.0.0.1:0
metrics-listen: 127.0.0.1:0
trusted-proxies: 10.0.0.0/8
rate-limit: 200
max-connections: 500
idle-timeout: 60s
drain: 0s
purge-deleted-after: 720h
retain: 3650d
cancel-expired: true
deadline-warning: 2h
hide-addresses: true
log-format: text
ready-requires-storage: true
no-webhooks: true
`

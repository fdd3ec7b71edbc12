package e2e

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/mail/mailtest"
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
	"/v2/orders/SF-2026-0000003", "/v2/webhooks/2/deliveries", "/v2/orders/by-merchant-reference/2026%2F0815", "/v2/orders/without-invoice",
	"/operator/orders?email=buyer4@example.com", "/operator/orders/SF-2026-0000004", "/operator/merchants", "/operator/audit",
	"/operator/merchants/all/webhooks", "/operator/webhooks",
}

// storedBaseURL is in the bodies of responses.
const storedBaseURL = "https://orders.example.com"

// oldOrder is the number of an order that a server with --retain deletes.
const oldOrder = 17

// storedSettings are flags of a server whose responses do not depend on where it runs.
var storedSettings = []string{"--base-url", storedBaseURL, "--admin-listen", "127.0.0.1:0", "--no-webhooks"}

// TestStoredInstallations opens what released versions have stored: the data folder, the
// dump of PostgreSQL and the backup. The responses must have every member that they had,
// writes must work, and check must find nothing. No table may be empty. The settings must
// be accepted.
// Proves that a release opens what earlier ones have stored.
func TestStoredInstallations(t *testing.T) {
	t.Parallel()
	if *store != "" {
		storeInstallation(t, *store)
	}
	folders := testenv.Of(filepath.Glob("testdata/stored/*")).Must(t)
	if len(folders) == 0 {
		t.Error("no version has stored an installation")
	}
	for _, folder := range folders {
		in := storedInstallation{folder: folder}
		in.read(t, storedTokens, &in.tokens)
		in.read(t, storedResponses, &in.responses)
		t.Run(in.version(), func(t *testing.T) {
			t.Run("sqlite", func(t *testing.T) {
				f := in.data(t)
				checkRows(t, in.version(), "sqlite", filepath.Join(f.Data, "orders.db"))
				in.serve(t, f)
			})
			t.Run("postgres", func(t *testing.T) {
				f := in.data(t)
				url := pgtest.Empty(t)
				execute(t, "psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--file="+filepath.Join(folder, storedPostgres), url)
				checkRows(t, in.version(), "pgx", url)
				f.Settings = []string{"--database", url, "--storage", "file://" + f.Data + "/files"}
				in.serve(t, f)
			})
			t.Run("backup", func(t *testing.T) {
				f := dataFolder(t)
				f.Run(t, "", "restore", filepath.Join(folder, storedBackup)).WantText(t, 0, "no findings")
				checkRows(t, in.version(), "sqlite", filepath.Join(f.Data, "orders.db"))
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

// since are the first versions that have stored rows in tables that are newer than 1.0.0.
var since = map[string]string{"kept": "1.1.0"}

// checkRows reports the tables of a database of a version that have no rows: what a release
// has stored in them would not be opened by a test.
func checkRows(t *testing.T, version, driver, source string) {
	t.Helper()
	db := testenv.Of(sql.Open(driver, source)).Must(t)
	defer db.Close()
	list := "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table'"
	if driver != "sqlite" {
		list = "SELECT string_agg(tablename, ',') FROM pg_tables WHERE schemaname = 'public'"
	}
	var tables string
	testenv.NoError(t, db.QueryRowContext(t.Context(), list).Scan(&tables))
	for table := range strings.SplitSeq(tables, ",") {
		var hasRows bool
		testenv.NoError(t, db.QueryRowContext(t.Context(), "SELECT EXISTS (SELECT 1 FROM "+table+")").Scan(&hasRows))
		if !hasRows && version >= since[table] {
			t.Errorf("table %s has no rows: fill must add one", table)
		}
	}
}

// TestStoredSettings compares the settings to be stored with the table of all settings.
// Proves that the stored settings are complete.
func TestStoredSettings(t *testing.T) {
	t.Parallel()
	text := testenv.Of(os.ReadFile("../../docs/settings.md")).Must(t)
	_, table, _ := strings.Cut(string(text), "\n## Settings of the service\n")
	var want []string
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)").FindAllStringSubmatch(table, -1) {
		// These name what only one machine has.
		if !slices.Contains([]string{"config", "data", "database", "storage", "tls-cert", "tls-key", "environment-file"}, row[1]) {
			want = append(want, row[1])
		}
	}
	var got []string
	for _, line := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(storedConfigText, -1) {
		got = append(got, line[1])
	}
	testenv.Equal(t, "settings in storedConfigText", want, got)
}

func (in storedInstallation) version() string { return filepath.Base(in.folder) }

func (in storedInstallation) read(t *testing.T, name string, into any) {
	t.Helper()
	text := testenv.Of(os.ReadFile(filepath.Join(in.folder, name))).Must(t)
	testenv.NoError(t, json.Unmarshal(text, into))
}

// data returns a copy of the data folder.
func (in storedInstallation) data(t *testing.T) apptest.Folder {
	t.Helper()
	f := dataFolder(t)
	testenv.NoError(t, os.CopyFS(f.Data, os.DirFS(filepath.Join(in.folder, storedData))))
	compressed := testenv.Of(os.Open(filepath.Join(f.Data, storedDatabase))).Must(t)
	defer compressed.Close()
	unpacked := testenv.Of(gzip.NewReader(compressed)).Must(t)
	content := testenv.Of(io.ReadAll(unpacked)).Must(t)
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
		if got := in.get(t, s, path); !hasAll(got, lasting(decoded(t, want))) {
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
	case strings.HasPrefix(path, "/v2/tokens"), strings.HasPrefix(path, "/v2/webhooks"), path == "/v2/login-link":
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
	body := decoded(t, []byte(got.Body))
	served := testenv.Of(http.ParseTime(got.Header.Get("Date"))).Must(t)
	if list, ok := body.(map[string]any); ok {
		replaceToday(list["params"], served)
	}
	return lasting(body)
}

// endOfToday stands for what the params of a list without dates show as their end, which
// is that of the current day (decision 3).
const endOfToday = "END OF TODAY"

// replaceToday replaces the end of the day on which a list was served.
func replaceToday(params any, served time.Time) {
	shown, _ := params.(map[string]any)
	for _, name := range []string{"date_to", "dateTo"} {
		// The day may have ended between the response and its header.
		if text, ok := shown[name].(string); ok && (text == endOf(served) || text == endOf(served.Add(-time.Minute))) {
			shown[name] = endOfToday
		}
	}
}

func endOf(day time.Time) string { return day.UTC().Format(time.DateOnly) + " 23:59:59" }

// lasting returns a JSON value without what another server, or one on another day, shows in
// other ways. In an inspected order, history is the list of its events. The token of a session,
// without a hint, is deleted some time after its end.
func lasting(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if _, isList := member.([]any); !isList && slices.Contains([]string{"history", "next", "lastUsedAt", "lastUsedFrom"}, name) {
				delete(value, name)
				continue
			}
			value[name] = lasting(member)
		}
	case []any:
		for i, member := range value {
			value[i] = lasting(member)
		}
		return slices.DeleteFunc(value, func(member any) bool {
			token, _ := member.(map[string]any)
			return token["hint"] == ""
		})
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
	documents := make([][]byte, oldOrder)
	for i := range documents {
		documents[i] = ingesttest.Document(i+1, func(document map[string]any) {
			document["merchantId"] = apptest.MerchantID + int64(i/13)
			if i < 4 {
				document["state"] = "registered"
			}
			if i == oldOrder-1 {
				document["createdAt"], document["state"] = "2010-11-20T08:15:30Z", "completed"
			}
		})
	}
	f.Import(t, documents...)
	mails := mailtest.Start(t)
	s := f.Serve(t, slices.Concat(storedSettings, []string{
		"--retain", "3650d", "--retain-confirmed", "3650d", "--webhook-allow-private", "--smtp", fmt.Sprintf("smtp://localhost:%d", mails.Plain), "--smtp-from", "orders@example.com",
	})...)
	in.fill(t, s)
	cookie := in.signIn(t, s)
	in.addAddress(t, s, cookie, mails)
	in.submit(t, s, cookie, "/console/orders?state=registered", url.Values{"name": {"Mine"}})
	in.responses = make(map[string]json.RawMessage)
	for _, path := range storedPaths {
		in.responses[path] = json.RawMessage(asJSON(t, in.get(t, s, path)))
	}
	s.Stop(t)
	in.write(t, f)
}

// fill changes the first four orders, which are new, and what is not of an order.
func (in storedInstallation) fill(t *testing.T, s *apptest.Server) {
	t.Helper()
	hook := httptest.NewServer(http.NotFoundHandler())
	defer hook.Close()
	order := func(n int) string { return "/v2/orders/" + ingesttest.Reference(n) }
	for i, r := range []struct{ method, path, body string }{
		{"PATCH", order(1) + "/accept", ""},
		{"POST", order(1) + "/invoices", `{"filename":"a.pdf","contentBase64":"Zmlyc3Q=","kind":"receipt","number":"A-77","mark":"400001234567890","link":"https://invoices.example.com/77"}`},
		{"POST", order(1) + "/invoices", `{"filename":"b.png","contentBase64":"c2Vjb25k"}`},
		{"DELETE", order(1) + "/invoices/2", ""},
		{"POST", order(1) + "/invoices/1/link", ""},
		{"PATCH", order(2) + "/reject", `{"status":"D","reason":"out-of-stock"}`},
		{"PATCH", order(3), `{"merchantReference":"2026/0815","merchantNote":"Δώρο"}`},
		{"POST", "/v2/webhooks", `{"url":"https://hooks.example.com/a","types":["order.created"],"after":0}`},
		{"PATCH", "/v2/webhooks/1", `{"enabled":false}`},
		{"POST", "/v2/webhooks", `{"url":"` + hook.URL + `/b","include":"order","headers":{"X-Key":"1"},"username":"a","password":"b"}`},
		{"POST", "/v2/webhooks/2/test", ""},
		{"POST", "/v2/webhooks/2/secret", ""},
		{"POST", "/operator/merchants/all/webhooks", `{"url":"https://hooks.example.com/all"}`},
		{"POST", "/v2/tokens", `{"scopes":["orders:read"],"label":"reader"}`},
		{"POST", "/operator/merchants/355/orders/" + ingesttest.Reference(4) + "/state", `{"state":"canceled","reason":"customer-request"}`},
		{"PATCH", "/operator/merchants/355", `{"limits":{"requestsPerSecond":200},"timeZone":"Europe/Athens"}`},
		{"POST", "/operator/merchants/356/suspend", `{"reason":"Contract ended"}`},
		{"POST", "/operator/customers/erase", `{"email":"buyer5@example.com"}`},
	} {
		got := in.send(t, s, r.method, r.path, r.body, "Idempotency-Key", fmt.Sprintf("change %d", i))
		if got.Status/100 != 2 {
			t.Fatalf("%s %s: %d %s", r.method, r.path, got.Status, got.Body)
		}
	}
	testenv.Eventually(t, "the old order is deleted", func() bool {
		return in.send(t, s, http.MethodGet, "/operator/orders/"+ingesttest.Reference(oldOrder), "").Status == http.StatusNotFound
	})
}

// signIn makes two login links, signs in by one of them, and returns the cookie of the
// session.
func (in storedInstallation) signIn(t *testing.T, s *apptest.Server) string {
	t.Helper()
	var link struct{ URL string }
	for range 2 {
		in.send(t, s, http.MethodPost, "/v2/login-link", `{"name":"Νίκος","scopes":["orders:read","webhooks"]}`).Decode(t, &link)
	}
	got := testenv.Send(t, "", http.MethodPost, s.BaseURL+strings.TrimPrefix(link.URL, storedBaseURL), "")
	got.WantStatus(t, http.StatusSeeOther)
	cookie, _, _ := strings.Cut(got.Header.Get("Set-Cookie"), ";")
	return cookie
}

// Matches in a page, and in an e-mail.
var (
	formKey     = regexp.MustCompile(`name="key" value="([^"]+)"`)
	addressLink = regexp.MustCompile(storedBaseURL + `(/console/mail/confirm/\S+)`)
)

// addAddress adds an e-mail address in a session, and confirms it.
func (in storedInstallation) addAddress(t *testing.T, s *apptest.Server, cookie string, mails *mailtest.Server) {
	t.Helper()
	in.submit(t, s, cookie, "/console/mail", url.Values{"do": {"add"}, "email": {"team@example.com"}, "what": {"new", "near"}, "every": {"15"}, "language": {"el"}})
	link := addressLink.FindStringSubmatch(mails.Next(t).Body)
	testenv.Send(t, "", http.MethodPost, s.BaseURL+link[1], "").WantStatus(t, http.StatusOK)
}

// submit submits a form of a page in a session.
func (in storedInstallation) submit(t *testing.T, s *apptest.Server, cookie, path string, form url.Values) {
	t.Helper()
	page := testenv.Send(t, "", http.MethodGet, s.BaseURL+path, "", "Cookie", cookie)
	form.Set("key", formKey.FindStringSubmatch(page.Body)[1])
	testenv.Send(t, "", http.MethodPost, s.BaseURL+path, form.Encode(),
		"Cookie", cookie, "Content-Type", "application/x-www-form-urlencoded").WantStatus(t, http.StatusSeeOther)
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
		text := testenv.Of(json.MarshalIndent(value, "", "\t")).Must(t)
		put(name, append(text, '\n'))
	}
	putJSON(storedTokens, in.tokens)
	putJSON(storedResponses, in.responses)
	put(storedConfig, []byte(storedConfigText))
	f.Run(t, "", "backup", filepath.Join(in.folder, storedBackup)).WantText(t, 0, "backed up")

	url := pgtest.Empty(t)
	f.Run(t, "", "copy", "--to-database", url, "--to-storage", "file://"+t.TempDir()+"/files").WantText(t, 0)
	for _, table := range []string{"sessions", "login_links"} { // copy leaves them out
		copyRows(t, filepath.Join(f.Data, "orders.db"), url, table)
	}
	dump := execute(t, "pg_dump", "--no-owner", "--no-privileges", url)
	put(storedPostgres, restriction.ReplaceAll(dump, nil))

	testenv.NoError(t, os.CopyFS(filepath.Join(in.folder, storedData), os.DirFS(f.Data)))
	database := filepath.Join(in.folder, storedData, "orders.db")
	content := testenv.Of(os.ReadFile(database)).Must(t)
	var compressed bytes.Buffer
	packer := gzip.NewWriter(&compressed)
	testenv.Of(packer.Write(content)).Must(t)
	testenv.NoError(t, packer.Close())
	put(filepath.Join(storedData, storedDatabase), compressed.Bytes())
	left := testenv.Of(filepath.Glob(database + "*")).Must(t)
	for _, path := range left {
		if !strings.HasSuffix(path, ".gz") {
			testenv.NoError(t, os.Remove(path))
		}
	}
}

// copyRows copies the rows of a table from SQLite to PostgreSQL.
func copyRows(t *testing.T, from, to, table string) {
	t.Helper()
	source := testenv.Of(sql.Open("sqlite", from)).Must(t)
	defer source.Close()
	target := testenv.Of(sql.Open("pgx", to)).Must(t)
	defer target.Close()
	rows := testenv.Of(source.QueryContext(t.Context(), "SELECT * FROM "+table)).Must(t)
	defer rows.Close()
	columns := testenv.Of(rows.Columns()).Must(t)
	values, into, parameters := make([]any, len(columns)), make([]any, len(columns)), make([]string, len(columns))
	for i := range columns {
		into[i], parameters[i] = &values[i], fmt.Sprintf("$%d", i+1)
	}
	insert := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(parameters, ", ") + ")"
	for rows.Next() {
		testenv.NoError(t, rows.Scan(into...))
		testenv.Of(target.ExecContext(t.Context(), insert, values...)).Must(t)
	}
	testenv.NoError(t, rows.Err())
}

// storedConfigText has all settings of serve, except those that name what only one machine
// has.
const storedConfigText = `base-url: https://orders.example.com
admin-base-url: https://orders-admin.example.com
storage-url: https://files.example.com/invoices
error-codes: table
max-token-lifetime: 365d
log-level: warn
as: Operations
ticket: OPS-1
listen: 127.0.0.1:0
admin-listen: 127.0.0.1:0
metrics-listen: 127.0.0.1:0
trusted-proxies: 10.0.0.0/8
rate-limit: 200
max-connections: 500
idle-timeout: 60s
wait: 10s
drain: 0s
purge-deleted-after: 720h
retain: 3650d
retain-confirmed: 3650d
cancel-expired: true
deadline-warning: 2h
hide-addresses: true
time-zone: Europe/Athens
log-format: text
ready-requires-storage: true
oidc-issuer: https://sso.example.com
oidc-client-id: orders
oidc-client-secret: secret
oidc-trust-unverified-email: true
oidc-rules: groups=staff operator orders:read,audit
security-contact: mailto:security@example.com
smtp: smtps://mail.example.com
smtp-from: orders@example.com
smtp-hello: orders.example.com
smtp-user: orders
smtp-password: secret
no-webhooks: true
webhook-allow-private: false
demo: false
sandbox: false
`

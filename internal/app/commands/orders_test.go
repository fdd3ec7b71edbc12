package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/app/commands"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// remote runs commands against a service.
type remote struct {
	address, token string
}

// startRemote starts a service with some orders of ingesttest.
func startRemote(t *testing.T, orders int) (*apptest.Server, remote) {
	t.Helper()
	server := apptest.Start(t)
	for n := 1; n <= orders; n++ {
		server.Import(t, ingesttest.Document(n))
	}
	return server, remote{server.BaseURL, server.Token}
}

// run runs a command with address and token in the environment. It also checks
// that the output does not contain the token and that an error is one line.
func (r remote) run(t *testing.T, stdin string, args ...string) apptest.Result {
	t.Helper()
	environ := []string{
		"MERCHANT_ORDERS_ADDRESS=" + r.address, "MERCHANT_ORDERS_TOKEN=" + r.token,
		// An invalid data folder must not matter.
		"MERCHANT_ORDERS_DATA=/dev/null/x", "MERCHANT_ORDERS_DATABASE=nonsense",
	}
	got := apptest.RunIn(t, environ, stdin, args...)
	testenv.Lacks(t, fmt.Sprint(args), got.Stdout+got.Stderr, r.token)
	if lines := strings.Count(got.Stderr, "\n"); (got.Code == 0) != (lines == 0) || lines > 1 || lines == 1 && !strings.HasPrefix(got.Stderr, "merchant-orders: ") {
		t.Errorf("%v: exit code %d and on standard error %q", args, got.Code, got.Stderr)
	}
	return got
}

func TestOrdersList(t *testing.T) {
	t.Parallel()
	_, r := startRemote(t, 30)
	got := r.run(t, "", "orders", "list", "--state", "picked-by-courier")
	want := `REFERENCE        STATE              CREATED               TOTAL  COUNTRY  INVOICE  CUSTOMER
SF-2026-0000029  picked-by-courier  2026-11-06T04:27:01Z  `
	if got.Code != 0 || !strings.HasPrefix(got.Stdout, want) || strings.Count(got.Stdout, "\n") != 4 {
		t.Errorf("%+v, want it to begin with\n%s", got, want)
	}
	// Columns count runes; Greek letters have two bytes.
	for line := range strings.Lines(got.Stdout) {
		if at := strings.Index(line, "GR"); at >= 0 && at != strings.Index(got.Stdout, "COUNTRY") {
			t.Errorf("a column is not aligned:\n%s", got.Stdout)
		}
	}

	day := ingesttest.CreatedAt(7).Format(time.DateOnly)
	for args, want := range map[string]int{
		"": 30, "--limit 7": 7, "--limit 200": 30, "--from " + day + " --to " + day: 1, "--state registered --limit 3": 3, "--to 2001-01-01": 0,
	} {
		got := r.run(t, "", append([]string{"orders", "list", "--json"}, strings.Fields(args)...)...)
		lines := 0
		for line := range strings.Lines(got.Stdout) {
			lines++
			var order struct{ ID, State, CreatedAt string }
			if err := json.Unmarshal([]byte(line), &order); err != nil || order.ID == "" || !strings.HasSuffix(order.CreatedAt, "Z") {
				t.Errorf("%q: line %s: %v", args, line, err)
			}
		}
		if got.Code != 0 || lines != want {
			t.Errorf("%q: %d orders, want %d: %+v", args, lines, want, got)
		}
	}
	if got := r.run(t, "", "orders", "list", "--to", "2001-01-01"); got.Code != 0 || strings.Count(got.Stdout, "\n") != 1 {
		t.Errorf("no orders: %+v", got)
	}
	exported := strings.Split(r.run(t, "", "orders", "export", "--from", day, "--to", day).Stdout, "\n")
	if len(exported) != 3 || !strings.HasPrefix(exported[0], `{"id":"SF-2026-0000007",`) || !strings.HasPrefix(exported[1], `{"summary":{"orders":1},"complete":true,"after":30,"history":"`) {
		t.Errorf("export: %q", exported)
	}
	r.run(t, "", "orders", "export", "--state", "asleep").WantText(t, 2, "state must be one of registered, in-processing")
	r.run(t, "", "orders", "list", "--state", "asleep").WantText(t, 2, "state must be one of registered, in-processing")
}

func TestOrdersShowAcceptReject(t *testing.T) {
	t.Parallel()
	_, r := startRemote(t, 2)
	first, second := ingesttest.Reference(1), ingesttest.Reference(2)

	got := r.run(t, "", "orders", "show", first)
	for _, want := range []string{"ORDER", first, "State", "registered", "QUANTITY", "E-mail", "buyer1@example.com"} {
		got.WantText(t, 0, want)
	}
	// Amounts as people write them; JSON has the minor unit.
	total := regexp.MustCompile(`(?m)^Total +(\d+)\.(\d\d)$`).FindStringSubmatch(got.Stdout)
	if total == nil {
		t.Fatalf("show does not print the total with two decimals:\n%s", got.Stdout)
	}
	testenv.Contains(t, "list", r.run(t, "", "orders", "list").Stdout, "Z  "+total[1]+"."+total[2]+" ")
	testenv.Contains(t, "list as JSON", r.run(t, "", "orders", "list", "--json").Stdout, `":`+total[1]+total[2]+`,"`)
	got = r.run(t, "", "orders", "show", "--json", first)
	var order struct{ ID, State, CreatedAt string }
	if err := json.Unmarshal([]byte(got.Stdout), &order); err != nil || order.ID != first || order.CreatedAt != ingesttest.CreatedAt(1).Format(time.RFC3339) {
		t.Errorf("%+v, %v", got, err)
	}

	r.run(t, "", "orders", "accept", first).WantOut(t, 0, "order "+first+" is in-processing\n")
	refused := regexp.MustCompile(`^merchant-orders: accept order ` + first + `: Cannot Accept Order: The order is in-processing .* \(status 400, code 10304, request \w+\)\n$`)
	if got := r.run(t, "", "orders", "accept", first); got.Code != 4 || got.Stdout != "" || !refused.MatchString(got.Stderr) {
		t.Errorf("second accept: %+v", got)
	}
	r.run(t, "", "orders", "reject", first).WantText(t, 4)
	r.run(t, "", "orders", "reject", second, "--reason", "boredom").WantText(t, 4, "The reason is not valid")
	got = r.run(t, "", "orders", "reject", second, "--reason=damaged", "--json")
	var change struct{ OrderReference, State, RequestID string }
	if err := json.Unmarshal([]byte(got.Stdout), &change); err != nil || got.Code != 0 || change.OrderReference != second || change.State != "rejected-by-merchant" || change.RequestID == "" {
		t.Errorf("reject: %+v, %v", got, err)
	}
}

// TestOrdersAnswerList accepts and rejects lists of orders.
func TestOrdersAnswerList(t *testing.T) {
	t.Parallel()
	_, r := startRemote(t, 2)
	first, second := ingesttest.Reference(1), ingesttest.Reference(2)
	environ := []string{"MERCHANT_ORDERS_ADDRESS=" + r.address, "MERCHANT_ORDERS_TOKEN=" + r.token}
	r.run(t, first+"\n", "orders", "accept", "-").WantOut(t, 0, "changed 1, unchanged 0, refused 0, not found 0, invalid 0\n")
	got := apptest.RunIn(t, environ, " "+first+"\r\n\n"+second+"\nSF-0\nSF 0\n", "orders", "reject", "-", "--reason=damaged")
	got.WantOut(t, 1, "changed 1, unchanged 0, refused 1, not found 1, invalid 1\n")
	testenv.Equal(t, "problems", `line 1: An order in the state in-processing cannot move to rejected-by-merchant: only the marketplace can change it.
line 4: The merchant 355 has no such order.
line 5: the line is not the reference of an order
merchant-orders: 3 lines changed nothing
`, got.Stderr)
	r.run(t, second, "orders", "reject", "-").WantOut(t, 0, "changed 0, unchanged 1, refused 0, not found 0, invalid 0\n")
	r.run(t, second, "orders", "reject", "-", "--key=k").WantText(t, 2, "not for a list")
	r.token = "mo_x"
	r.run(t, second, "orders", "reject", "-").WantText(t, 5)
}

// Proves decision 6 (links).
func TestInvoices(t *testing.T) {
	t.Parallel()
	server, r := startRemote(t, 1)
	dir, reference := t.TempDir(), ingesttest.Reference(1)
	file := filepath.Join(dir, "τιμή.pdf")
	testenv.NoError(t, os.WriteFile(file, []byte("%PDF-1.4"), 0o600))
	got := r.run(t, "", "invoices", "upload", reference, file)
	if got.Code != 0 || !strings.HasPrefix(got.Stdout, "invoice 1: "+r.address+"/storage/") || !strings.HasSuffix(got.Stdout, "/%CF%84%CE%B9%CE%BC%CE%AE.pdf\n") {
		t.Errorf("upload: %+v", got)
	}
	got = r.run(t, "from a pipe", "invoices", "upload", reference, "-", "--name", "b.png", "--json", "--kind=receipt", "--number=R 7", "--mark=40", "--link=https://x.example/7")
	var invoice struct {
		ID                       int64
		Kind, Number, Mark, Link string
	}
	if err := json.Unmarshal([]byte(got.Stdout), &invoice); err != nil || got.Code != 0 || fmt.Sprint(invoice) != "{2 receipt R 7 40 https://x.example/7}" {
		t.Errorf("upload: %+v, %v", got, err)
	}

	out := filepath.Join(dir, "out.pdf")
	r.run(t, "", "invoices", "download", reference, "1", "--output", out).WantOut(t, 0, out+": 8 bytes\n")
	content, err := os.ReadFile(out)
	if info, statErr := os.Stat(out); err != nil || statErr != nil || string(content) != "%PDF-1.4" || info.Mode().Perm() != 0o600 {
		t.Errorf("downloaded %q, %v, %v", content, err, statErr)
	}
	r.run(t, "", "invoices", "download", reference, "2", "--output", out).WantText(t, 1, "file exists")
	r.run(t, "", "invoices", "download", reference, "2", "--output=-").WantOut(t, 0, "from a pipe")

	got = r.run(t, "", "invoices", "link", reference, "2")
	link := strings.TrimSpace(got.Stdout)
	testenv.Send(t, "", "GET", link, "").Want(t, "the file", http.StatusOK, "from a pipe")
	if got := r.run(t, "", "invoices", "link", reference, "2", "--json"); got.Code != 0 || !strings.HasPrefix(got.Stdout, `{"url":"`+r.address+`/files/355.`) {
		t.Errorf("link as JSON: %+v", got)
	}
	server.Folder.Run(t, "", "links", "revoke").WantOut(t, 0, "all links to invoice files are revoked\n")
	testenv.Send(t, "", "GET", link, "").WantStatus(t, http.StatusNotFound)
	if got := r.run(t, "", "invoices", "delete", reference, "1"); got.Code != 0 || strings.Contains(got.Stdout, "%CF%84") || !strings.Contains(got.Stdout, "b.png") {
		t.Errorf("delete: %+v", got)
	}
	r.run(t, "", "invoices", "delete", reference, "2", "--json").WantOut(t, 0, `{"invoices":[]}`+"\n")
	for _, tc := range []struct {
		code int
		args []string
	}{
		{3, []string{"invoices", "delete", reference, "2"}},
		{3, []string{"invoices", "link", reference, "2"}},
		{3, []string{"invoices", "download", reference, "2"}},
		{3, []string{"invoices", "upload", "SF-0", file}},
		{4, []string{"invoices", "upload", reference, file, "--name", "a.exe"}},
		{4, []string{"invoices", "upload", reference, file, "--kind", "bill"}},
		{4, []string{"invoices", "upload", reference, "-", "--name", "empty.pdf"}},
		{1, []string{"invoices", "upload", reference, filepath.Join(dir, "missing.pdf")}},
		{1, []string{"invoices", "upload", reference, dir}},
		{2, []string{"invoices", "upload", reference, "-"}},
		{2, []string{"invoices", "download", reference, "x"}},
		{2, []string{"invoices", "delete", reference, "0"}},
		{2, []string{"invoices", "download", reference, "2", "--trust=x"}},
		{2, []string{"invoices", "download", reference, "2", "--output=-", "--json"}},
	} {
		r.run(t, "", tc.args...).WantOut(t, tc.code, "")
	}
}

// TestRemoteExitCodes checks the exit codes that scripts rely on.
func TestRemoteExitCodes(t *testing.T) {
	t.Parallel()
	server, r := startRemote(t, 1)
	reference := ingesttest.Reference(1)
	reader := remote{r.address, server.Folder.Token(t, "--merchant", "355", "--scopes", "orders:read")}
	stopped := httptest.NewServer(http.NotFoundHandler())
	stopped.Close()
	for name, tc := range map[string]struct {
		remote remote
		args   []string
		code   int
	}{
		"done":           {r, []string{"orders", "show", reference}, 0},
		"no order":       {r, []string{"orders", "show", "SF-0"}, 3},
		"no accept":      {r, []string{"orders", "accept", "SF-0"}, 3},
		"unknown token":  {remote{r.address, "mo_unknown"}, []string{"orders", "list"}, 5},
		"not allowed":    {reader, []string{"orders", "accept", reference}, 5},
		"operator token": {remote{r.address, server.Folder.Token(t, "--operator")}, []string{"orders", "list"}, 5},
		"out of reach":   {remote{stopped.URL, "mo_unknown"}, []string{"orders", "list"}, 6},
		"not a service":  {remote{r.address + "/elsewhere", r.token}, []string{"orders", "list"}, 1},
		"no address":     {remote{"nonsense", "mo_x"}, []string{"orders", "list"}, 2},
		"address in it":  {remote{"http://user:mo_x@127.0.0.1:1", "mo_x"}, []string{"orders", "list"}, 2},
		"no token":       {remote{r.address, "mo_x y"}, []string{"orders", "list"}, 2},
		"no day":         {r, []string{"orders", "list", "--from=2026-13-01"}, 2},
		"no limit":       {r, []string{"orders", "list", "--limit=0"}, 2},
		"no number":      {r, []string{"orders", "watch", "--after=x"}, 2},
		"no tag":         {r, []string{"orders", "accept", reference, "--if-match=\x01"}, 2},
		"range reversed": {r, []string{"orders", "list", "--from=2026-02-01", "--to=2026-01-01"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.remote.run(t, "", tc.args...).WantText(t, tc.code)
		})
	}
	got := apptest.Run(t, "", "orders", "list")
	want := "merchant-orders: --token (MERCHANT_ORDERS_TOKEN): is required; create one with merchant-orders token create\n"
	got.WantErr(t, 2, want)
	testenv.Of(os.Stat("data")).WantError(t, "a data folder was created", os.ErrNotExist)
}

// TestRemoteTextIsSanitized checks that texts of a service cannot control the
// terminal.
func TestRemoteTextIsSanitized(t *testing.T) {
	t.Parallel()
	evil := "\x1b[2J\u202eevil\r\n\u2028\t\x9b"
	text := testenv.Of(json.Marshal(evil)).Must(t)
	response := fmt.Sprintf(`{"params":{"page":1,"itemsPerPage":100,"totalItems":1,"dateFrom":"1970-01-01 00:00:00","dateTo":"2026-11-20 23:59:59"},
		"orders":[{"id":%[1]s,"state":%[1]s,"createdAt":"2026-11-20 08:15:30","customer":{"firstName":%[1]s,"lastName":""}}],
		"order":{"id":"SF-1","state":%[1]s,"createdAt":"2026-11-20 08:15:30","customer":{"email":%[1]s},"addressDetails":{"city":%[1]s},"invoices":[
			{"id":1,"url":%[1]s,"created_at":"2026-11-20T09:15:00Z"}],"carrier":{"name":%[1]s},"payment":{"name":%[1]s},"lineItems":[{"sku":%[1]s,"productName":%[1]s}]},
		"events":[{"seq":1,"type":%[1]s,"orderReference":%[1]s,"at":"2026-11-20T09:15:00Z","actor":%[1]s,"data":{"x":%[1]s}}],"next":1}`, text)
	served := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v2/events" && served {
			response = `{"events":[],"next":1}`
		}
		served = r.URL.Path == "/v2/events"
		_, _ = w.Write([]byte(response))
	}))
	t.Cleanup(server.Close)
	r := remote{server.URL, "mo_x"}
	for _, args := range [][]string{{"orders", "list"}, {"orders", "show", "SF-1"}, {"orders", "watch", "--once"}} {
		got := r.run(t, "", args...)
		got.WantText(t, 0, "evil")
		if strings.ContainsAny(got.Stdout, "\x1b\r\u202e\u2028\u009b\t") {
			t.Errorf("%v prints control characters: %q", args, got.Stdout)
		}
	}
}

// TestOrdersWatch follows the feed until it is stopped, with exit code 0.
func TestOrdersWatch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	event := `{"seq":%d,"type":"order.state_changed","orderReference":"SF-1","orderId":915664,"at":"2026-11-20T09:15:00Z","actor":"merchant",` +
		`"data":{"from":"registered","to":"rejected-by-merchant","reason":"damaged"}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("after") == "16" {
			_, _ = fmt.Fprintf(w, `{"events":[`+event+`],"next":17}`, 17)
			return
		}
		if r.URL.Query().Get("wait") != "" {
			cancel()
		}
		_, _ = w.Write([]byte(`{"events":[],"next":17}`))
	}))
	t.Cleanup(server.Close)
	var stdout, stderr bytes.Buffer
	args := []string{"orders", "watch", "--after", "16", "--address", server.URL}
	code := commands.Run(ctx, args, strings.NewReader(""), &stdout, &stderr, []string{"MERCHANT_ORDERS_TOKEN=mo_x"})
	want := "17  2026-11-20T09:15:00Z  SF-1  order.state_changed  merchant  registered -> rejected-by-merchant (damaged)\n"
	if code != 0 || stdout.String() != want || stderr.String() != "" {
		t.Errorf("exit code %d, %q, %q, want %q", code, stdout.String(), stderr.String(), want)
	}
	got := remote{server.URL, "mo_x"}.run(t, "", "orders", "watch", "--after=16", "--once", "--json")
	if diff := cmp.Diff(fmt.Sprintf(event, 17)+"\n", got.Stdout); diff != "" || got.Code != 0 {
		t.Errorf("%+v, standard output (-want +got):\n%s", got, diff)
	}
}

// TestOrdersWatchHistory begins at the end of the feed, and fails in another
// history.
func TestOrdersWatchHistory(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		after := r.URL.Query().Get("after")
		if after == "latest" {
			after = "17"
		}
		_, _ = fmt.Fprintf(w, `{"events":[],"next":%s,"newest":17,"history":"first"}`, after)
	}))
	t.Cleanup(server.Close)
	for args, want := range map[string]apptest.Result{
		"--after=latest":                  {Stdout: "17  newest event, history first\n"},
		"--after=latest --json":           {Stdout: `{"seq":17,"history":"first"}` + "\n"},
		"--after=latest --history=second": {Code: 4, Stdout: "17  newest event, history first\n", Stderr: "merchant-orders: read events after 17: event numbers have started again: the history is first, not second\n"},
		"--after=17 --history=first":      {},
		"--after=18":                      {Code: 4, Stderr: "merchant-orders: read events after 18: event numbers have started again: the newest event is 17\n"},
	} {
		got := remote{server.URL, "mo_x"}.run(t, "", append([]string{"orders", "watch", "--once"}, strings.Fields(args)...)...)
		if got.WantOut(t, want.Code, want.Stdout); got.Stderr != want.Stderr {
			t.Errorf("%s, want standard error %q", got, want.Stderr)
		}
	}
}

// TestExitCodesOfResponses checks the exit codes of rare responses.
func TestExitCodesOfResponses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{400: 4, 404: 1, 405: 1, 409: 6, 412: 4, 418: 4, 422: 4, 429: 6, 500: 1, 503: 6, 200: 1} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "3600") // longer than the client waits
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"message":"No."}`))
		}))
		(remote{server.URL, "mo_x"}).run(t, "", "orders", "accept", "SF-1").WantText(t, want)
		server.Close()
	}
}

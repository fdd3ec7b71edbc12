package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/app/commands"
	"merchantorders/internal/testenv"
)

// document returns a small order document of merchant 355 whose reference and
// line total depend on n.
func document(n int, change ...func(map[string]any)) []byte {
	fields := map[string]any{
		"merchantId": 355, "reference": fmt.Sprintf("T-%d", n), "createdAt": "2026-11-20T08:15:30Z", "total": 100 + n,
		"customer":        map[string]any{"email": "a@example.com", "firstName": "A", "lastName": "B"},
		"shippingAddress": map[string]any{"city": "Αθήνα"},
		"lineItems":       []any{map[string]any{"id": 1, "productName": "P", "unitPrice": 100 + n, "quantity": 1}},
	}
	for _, f := range change {
		f(fields)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return text
}

func lines(documents ...[]byte) string { return string(bytes.Join(documents, []byte("\n"))) + "\n" }

// TestExportOfDays exports the orders of some days, as an archive by age does.
func TestExportOfDays(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	var created [][]byte
	for n, at := range []string{"2026-10-31T23:59:59Z", "2026-11-01T00:00:00Z", "2026-11-30T23:59:59Z", "2026-12-01T00:00:00Z"} {
		created = append(created, document(n+1, func(d map[string]any) { d["createdAt"] = at }))
	}
	f.Import(t, created...)
	for flags, want := range map[string]string{
		"--from=2026-11-01 --to=2026-11-30": "T-2 T-3",
		"--from=2026-11-30":                 "T-3 T-4",
		"--to=2026-10-31":                   "T-1",
	} {
		var got []string
		for line := range strings.Lines(f.Run(t, "", append([]string{"export", "--orders"}, strings.Fields(flags)...)...).Stdout) {
			var exported struct{ Reference string }
			testenv.NoError(t, json.Unmarshal([]byte(line), &exported))
			got = append(got, exported.Reference)
		}
		testenv.Equal(t, flags, want, strings.Join(got, " "))
	}
	f.Run(t, "", "export", "--orders", "--from=2026-11-02", "--to=2026-11-01").WantText(t, 2, "is after --to")
	f.Run(t, "", "export", "--customer-email=a@example.com", "--from=2026-11-02").WantText(t, 2, "--orders")
}

// TestImportHelp imports the document that the help shows.
func TestImportHelp(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	_, rest, _ := strings.Cut(f.Run(t, "", "import", "--help").Stdout, "\n    {")
	document, _, _ := strings.Cut(rest, "\n")
	f.Run(t, "{"+document+"\n", "import", "-").WantOut(t, 0, "created 1, unchanged 0, deleted 0, conflicting 0, invalid 0\n")
	f.Run(t, "{}\n", "import", "-").WantText(t, 1, "line 1: merchantId, reference, createdAt, total, customer, shippingAddress, lineItems: are required")
}

func TestImport(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	file := filepath.Join(t.TempDir(), "orders.jsonl")
	testenv.NoError(t, os.WriteFile(file, []byte(lines(document(1), document(2), document(3))), 0o600))
	for _, want := range []string{
		"created 3, unchanged 0, deleted 0, conflicting 0, invalid 0\n",
		"created 0, unchanged 3, deleted 0, conflicting 0, invalid 0\n",
	} {
		// Standard error is not a terminal: no progress bar.
		f.Run(t, "", "import", file).WantOut(t, 0, want)
	}
	exported := f.Run(t, "", "export", "--orders")
	f.Run(t, "", "export", "--orders", "--merchant", "355").WantOut(t, 0, exported.Stdout)
	testenv.Equal(t, "lines", 3, strings.Count(exported.Stdout, "\n"))
	f.Run(t, exported.Stdout, "import", "-").WantOut(t, 0, "created 0, unchanged 3, deleted 0, conflicting 0, invalid 0\n")
	f.Run(t, "", "export", "--merchant", "355").WantText(t, 2, "--orders")
	f.Run(t, "", "export", "--orders", "--merchant", "9").WantText(t, 1, "there is no merchant 9")

	input := lines(
		document(4),
		document(5, func(d map[string]any) { d["lineItems"].([]any)[0].(map[string]any)["quantity"] = 0 }),
		document(1),
		[]byte("{"),
		document(2, func(d map[string]any) { d["notes"] = "other" }),
		document(6, func(d map[string]any) { d["merchantId"] = 1 }),
	)
	got := f.Run(t, input, "import", "-")
	want := "created 1, unchanged 1, deleted 0, conflicting 1, invalid 3\n"
	got.WantOut(t, 1, want)
	output := strings.Split(got.Stderr, "\n")
	if len(output) != 6 || output[0] != "line 2: lineItems[0].quantity: must be 1 or more" ||
		!strings.HasPrefix(output[1], "line 4: not a JSON object: ") || !strings.HasPrefix(output[2], "line 5: reference") ||
		!strings.HasPrefix(output[3], "line 6: merchantId") || output[4] != "merchant-orders: 4 lines were refused" {
		t.Errorf("standard error:\n%s", got.Stderr)
	}
	if got := f.Run(t, "x", "import", "-"); got.Code != 1 || !strings.HasSuffix(got.Stderr, "merchant-orders: 1 line was refused\n") {
		t.Errorf("one refused line: %+v", got)
	}
	f.Run(t, "", "import", "-").WantOut(t, 0, "created 0, unchanged 0, deleted 0, conflicting 0, invalid 0\n")
}

// TestImportOfDeletedOrders imports an order that serve --retain has deleted.
func TestImportOfDeletedOrders(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	old := document(1, func(d map[string]any) { d["createdAt"], d["state"] = "2015-11-20T08:15:30Z", "completed" })
	f.Import(t, old)
	s := f.Serve(t, "--retain", "3650d")
	testenv.Eventually(t, "a line in the log", func() bool { return strings.Contains(s.Log(), `"orders":1,"created_before"`) })
	testenv.Send(t, "", "GET", s.Address("/metrics"), "").WantText(t, 200, "merchant_orders_retention_announced_orders 1")
	f.Run(t, "", "doctor", "--retain", "3650d").WantText(t, 0, "--retain 3650d is announced, and deletes 1 order from ")
	s.Stop(t)
	f.Serve(t, "--retain", "3650d", "--retain-confirmed", "3650d")
	file := filepath.Join(t.TempDir(), "rejected.jsonl")
	var got apptest.Result
	testenv.Eventually(t, "the order is deleted", func() bool {
		got = f.Run(t, lines(old), "import", "-", "--rejected", file)
		return !strings.Contains(got.Stdout, "unchanged 1")
	})
	if want := "created 0, unchanged 0, deleted 1, conflicting 0, invalid 0\n"; got.Code != 0 || got.Stdout != want || got.Stderr != "" {
		t.Errorf("got %+v, want exit code 0 and %q", got, want)
	}
}

// TestStoppedService starts a server 40 days after the newest event: it deletes an order only
// after another day.
func TestStoppedService(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	old := document(1, func(d map[string]any) { d["createdAt"], d["state"] = "2015-11-20T08:15:30Z", "completed" })
	f.Import(t, old)
	setVersion(t, f.Data, "UPDATE events SET at = at - 40*86400")
	retain := []string{"--retain", "3650d", "--retain-confirmed", "3650d", "--purge-deleted-after", "0"}
	s := f.Serve(t, retain...)
	testenv.Eventually(t, "a line in the log", func() bool { return strings.Contains(s.Log(), "more than 30 days ahead") })
	f.Run(t, "", append([]string{"doctor"}, retain...)...).WantText(t, 0, "serve cancels, deletes and purges nothing by itself before 20")
	s.Stop(t)
	f.Run(t, lines(old), "import", "-").WantText(t, 0, "unchanged 1")
	setVersion(t, f.Data, fmt.Sprintf("UPDATE counters SET last = %d WHERE name = 'retain_wait_until'", time.Now().Unix()-1))
	f.Serve(t, retain...)
	testenv.Eventually(t, "the order is deleted", func() bool { return strings.Contains(f.Run(t, lines(old), "import", "-").Stdout, "deleted 1") })
}

func TestImportDryRun(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	f.Import(t, document(1))
	input := lines(document(1), document(2), document(2), document(2, func(d map[string]any) { d["notes"] = "other" }), []byte("{"))
	const want = "created 1, unchanged 2, deleted 0, conflicting 1, invalid 1\n"
	var first string
	for range 2 {
		got := f.Run(t, input, "import", "--dry-run", "-")
		if got.Code != 1 || got.Stdout != want || !strings.HasPrefix(got.Stderr, "line 4: reference: ") || first != "" && got.Stderr != first {
			t.Errorf("got %+v, want exit code 1 and %q", got, want)
		}
		first = got.Stderr
	}
	if got := f.Run(t, input, "import", "-"); got.Code != 1 || got.Stdout != want || got.Stderr != first {
		t.Errorf("the import afterwards: %+v, want %q and %q", got, want, first)
	}
}

func TestImportRejected(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	bad := "  {\"reference\": 1}\r"
	other := document(1, func(d map[string]any) { d["notes"] = "other" })
	input := lines(document(1), []byte(bad), []byte(strings.Repeat("x", 5<<20)), nil, other)
	file := filepath.Join(t.TempDir(), "rejected.jsonl")
	got := f.Run(t, input, "import", "-", "--rejected", file)
	if got.Code != 1 || !strings.HasSuffix(got.Stderr, "3 lines were refused\nmerchant-orders: 1 line is longer than 4 MiB and not in the file of refused lines\n") {
		t.Errorf("got %+v", got)
	}
	text, err := os.ReadFile(file)
	if want := bad + "\n" + string(other) + "\n"; err != nil || string(text) != want {
		t.Errorf("refused lines %q, %v, want %q", text, err, want)
	}
	testenv.Equal(t, "the file's mode", 0o600, testenv.Of(os.Stat(file)).Must(t).Mode().Perm())
	f.Run(t, input, "import", "-", "--rejected", file).WantErr(t, 2, "merchant-orders: --rejected (MERCHANT_ORDERS_REJECTED): "+file+" exists already; remove it, or choose another name\n")
	none := filepath.Join(t.TempDir(), "none.jsonl")
	f.Run(t, lines(document(1)), "import", "-", "--rejected", none).WantText(t, 0)
	if _, err := os.Stat(none); err == nil {
		t.Error("there is a file without refused lines")
	}
}

func TestImportOfUnreadableFiles(t *testing.T) {
	t.Parallel()
	f := folder(t)
	missing := filepath.Join(t.TempDir(), "missing.jsonl")
	f.Run(t, "", "import", missing).WantErr(t, 1, "merchant-orders: open "+missing+": no such file or directory\n")
	dir := t.TempDir()
	f.Run(t, "", "import", dir).WantErr(t, 1, "merchant-orders: "+dir+" is a folder\n")
	if _, err := os.Stat(f.Data); err == nil {
		t.Error("the data folder was created")
	}
}

// TestImportIsStopped does not close the input, so that only the end of the
// context can stop the import.
func TestImportIsStopped(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	input, writer := io.Pipe()
	defer func() { _ = writer.Close() }()
	ctx, stop := context.WithCancel(t.Context())
	var stdout, stderr bytes.Buffer
	code := make(chan int)
	go func() {
		code <- commands.Run(ctx, []string{"import", "-", "--data", s.Data}, input, &stdout, &stderr, nil)
	}()
	if _, err := io.WriteString(writer, lines(document(1), document(2))); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, "the order is imported", func() bool {
		return testenv.Send(t, s.Token, "GET", s.BaseURL+"/v2/orders/T-2", "").Status == 200
	})
	stop()
	testenv.Equal(t, "exit code", 1, <-code)
	testenv.Equal(t, "standard output", "created 2, unchanged 0, deleted 0, conflicting 0, invalid 0\n", stdout.String())
	testenv.Equal(t, "standard error", "merchant-orders: stopped before the end of the input; run the command again to import the rest\n", stderr.String())
	s.Run(t, lines(document(1), document(2), document(3)), "import", "-").WantOut(t, 0, "created 1, unchanged 2, deleted 0, conflicting 0, invalid 0\n")
}

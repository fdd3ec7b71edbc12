// Package apitest has the tests that each version passes: golden files of its views of
// orders, its errors and its lists.
package apitest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/order/ordertest"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// The merchant of the orders.
const (
	MerchantID   = ordertest.MerchantID
	MerchantName = ordertest.MerchantName
)

// StorageURL is the address of the stored files in golden files.
const StorageURL = "https://files.example/storage/eu/invoices-bucket"

// CheckGolden compares the JSON of a value, indented, with a file in testdata. If
// UPDATE_GOLDEN=1 is in the environment it writes the file instead.
func CheckGolden(t *testing.T, name string, view any) {
	t.Helper()
	recorder := httptest.NewRecorder()
	testenv.NoError(t, web.WriteJSON(recorder, 200, view))
	var got bytes.Buffer
	testenv.NoError(t, json.Indent(&got, recorder.Body.Bytes(), "", "  "))
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		testenv.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want := testenv.Of(os.ReadFile(path)).Must(t)
	testenv.Equal(t, name, string(want), got.String())
}

// CheckOrders compares the views of single orders with golden files.
func CheckOrders(t *testing.T, view func(order.Order) any) {
	t.Helper()
	withFiles, noLines := ordertest.Rich(), ordertest.Minimal()
	withFiles.Invoices = []order.Invoice{
		{ID: 12, Name: "a.pdf", CreatedAt: time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)},
		{ID: 15, Name: "τιμή 100% #1?.png", CreatedAt: time.Date(2026, 11, 20, 23, 15, 0, 0, time.FixedZone("", 7200))},
	}
	noLines.LineItems = nil
	for golden, o := range map[string]order.Order{
		"order-rich.json": withFiles, "order-minimal.json": ordertest.Minimal(), "order-no-lines.json": noLines,
	} {
		CheckGolden(t, golden, view(o))
	}
}

// CheckLists compares the views of lists with golden files: of page 3 with 2 of 42
// orders, created from 2026-11-01 to 2026-11-20 and returned, and of an empty page.
func CheckLists(t *testing.T, query string, view func(r *web.Request, page order.Page, now time.Time) (any, error)) {
	t.Helper()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	check := func(golden, query string, page order.Page) {
		t.Helper()
		list := testenv.Of(view(&web.Request{Request: httptest.NewRequest("GET", "/orders?"+query, nil)}, page, now)).Must(t)
		CheckGolden(t, golden, list)
	}
	check("list.json", query, order.Page{Total: 42, Orders: []order.Summary{summary(ordertest.Rich()), summary(ordertest.Minimal())}})
	check("list-empty.json", "", order.Page{})
}

func summary(o order.Order) order.Summary {
	return order.Summary{
		LegacyID: o.LegacyID, Reference: o.Reference, State: o.State, Currency: o.Currency,
		CountryCode: o.CountryCode, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
		Total: o.Total, HasInvoice: o.InvoiceDetails != nil, Customer: o.Customer,
	}
}

// CheckViewVersion checks that the golden files in testdata have a digest, which the
// test of a version records beside its ViewVersion: if a body changes, both must.
func CheckViewVersion(t *testing.T, viewVersion string, digests map[string]string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("golden files %q, error %v", files, err)
	}
	all := sha256.New()
	for _, file := range files {
		content := testenv.Of(os.ReadFile(file)).Must(t)
		_, _ = all.Write(content) // a hash never returns an error
	}
	if got := hex.EncodeToString(all.Sum(nil)[:8]); got != digests[viewVersion] {
		t.Errorf("the digest of the golden files is %q, and %q is recorded for ViewVersion %s: if a body has changed, "+
			"raise ViewVersion and record the new digest", got, digests[viewVersion], viewVersion)
	}
}

// Incoming returns an order to import. Its digest covers only the reference, which is
// different in each of these orders.
func Incoming(o order.Order) order.Incoming {
	return order.Incoming{Order: o, Digest: sha256.Sum256([]byte(o.Reference))}
}

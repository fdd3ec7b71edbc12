package v2

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

const storageURL = "https://files.example/storage/eu/invoices-bucket"

// checkGolden compares the JSON of a value, indented, with a file. If UPDATE_GOLDEN=1
// is in the environment it writes the file instead.
func checkGolden(t *testing.T, name string, view any) {
	t.Helper()
	recorder := httptest.NewRecorder()
	if err := web.WriteJSON(recorder, 200, view); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, recorder.Body.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestViewVersion checks that ViewVersion changes if a body does.
func TestViewVersion(t *testing.T) {
	t.Parallel()
	apitest.CheckViewVersion(t, ViewVersion, map[string]string{"2": "ee21949bcd95e592"})
}

func TestOrderView(t *testing.T) {
	t.Parallel()
	withFiles := apitest.Rich()
	withFiles.Invoices = []order.Invoice{
		{ID: 12, Name: "a.pdf", CreatedAt: time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)},
		{ID: 15, Name: "τιμή 100% #1?.png", CreatedAt: time.Date(2026, 11, 20, 23, 15, 0, 0, time.FixedZone("", 7200))},
	}
	noLines := apitest.Minimal()
	noLines.LineItems = nil
	tests := []struct {
		golden string
		order  order.Order
	}{
		{"order-rich.json", withFiles},
		{"order-minimal.json", apitest.Minimal()},
		{"order-no-lines.json", noLines},
	}
	for _, test := range tests {
		t.Run(test.golden, func(t *testing.T) {
			t.Parallel()
			checkGolden(t, test.golden, newSingleView(test.order, storageURL))
		})
	}
}

func summary(o order.Order) order.Summary {
	return order.Summary{
		LegacyID: o.LegacyID, Reference: o.Reference, State: o.State, Currency: o.Currency,
		CountryCode: o.CountryCode, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
		Total: o.Total, HasInvoice: o.InvoiceDetails != nil, Customer: o.Customer,
	}
}

func TestListView(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	full := order.Page{Total: 42, Orders: []order.Summary{summary(apitest.Rich()), summary(apitest.Minimal())}}
	tests := []struct {
		golden string
		query  string
		page   order.Page
	}{
		{"list.json", "state=return-canceled&page=3&itemsPerPage=2&dateFrom=2026-11-01&dateTo=2026-11-20", full},
		{"list-empty.json", "", order.Page{}},
	}
	for _, test := range tests {
		t.Run(test.golden, func(t *testing.T) {
			t.Parallel()
			params, err := listParams.Parse(&web.Request{Request: httptest.NewRequest("GET", "/v2/orders?"+test.query, nil)})
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, test.golden, newListView(params, test.page, now))
		})
	}
}

func TestArticle39Values(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value any
		want  string
	}{
		{nil, "null"}, {true, "true"}, {false, "false"}, {"", `""`}, {"Y", `"Y"`}, {"<ναι>", `"<ναι>"`},
	}
	for _, test := range tests {
		o := apitest.Rich()
		o.InvoiceDetails.Article39Eligible, o.InvoiceDetails.Article39Valid = test.value, test.value
		recorder := httptest.NewRecorder()
		if err := web.WriteJSON(recorder, 200, newSingleView(o, storageURL)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"article39Eligible", "article39Valid"} {
			if want := `"` + name + `":` + test.want; !bytes.Contains(recorder.Body.Bytes(), []byte(want)) {
				t.Errorf("%#v: no %s in the body", test.value, want)
			}
		}
	}
}

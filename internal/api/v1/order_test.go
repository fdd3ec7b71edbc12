package v1

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
	apitest.CheckViewVersion(t, ViewVersion, map[string]string{"2": "cb2aeddf00aff95b"})
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
			checkGolden(t, test.golden, newOrderView(test.order, storageURL))
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
		{"list.json", "status=C&page=3&items_per_page=2&date_from=2026-11-01&date_to=2026-11-20", full},
		{"list-empty.json", "", order.Page{}},
	}
	for _, test := range tests {
		t.Run(test.golden, func(t *testing.T) {
			t.Parallel()
			params, err := listParams.Parse(&web.Request{Request: httptest.NewRequest("GET", "/api/orders?"+test.query, nil)})
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, test.golden, newListView(params, test.page, apitest.MerchantID, now))
		})
	}
}

func TestYesNo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value any
		want  string
	}{
		{true, "Y"}, {"Y", "Y"}, {"yes", "Y"}, {"1", "Y"}, {"true", "Y"}, {"y", "Y"}, {"TRUE", "Y"}, {"Yes", "Y"},
		{false, "N"}, {nil, "N"}, {"", "N"}, {"N", "N"}, {"no", "N"}, {"0", "N"}, {"oui", "N"},
	}
	for _, test := range tests {
		if got := yesNo(test.value); got != test.want {
			t.Errorf("yesNo(%#v) = %q, want %q", test.value, got, test.want)
		}
	}
}

func TestStreetOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		street, number, want string
	}{
		{"Ερμού", "12", "Ερμού 12"},
		{"Ερμού 12", "", "Ερμού 12"},
		{"", "12", "12"},
		{"", "", ""},
	}
	for _, test := range tests {
		got := streetOf(order.Address{Street: test.street, StreetNumber: test.number})
		if got != test.want {
			t.Errorf("streetOf(%q, %q) = %q, want %q", test.street, test.number, got, test.want)
		}
	}
}

func TestAmountsOfOtherCurrencies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		currency        string
		total, discount string
	}{
		{"EUR", "1234.50", "1234.5"},
		{"JPY", "123450", "123450"},
		{"KWD", "123.450", "123.45"},
	}
	for _, test := range tests {
		o := apitest.Minimal()
		o.Currency, o.Total, o.Discount = test.currency, 123450, 123450
		view := newOrderView(o, storageURL)
		if view.Total != test.total || string(view.Discount) != test.discount {
			t.Errorf("%s: total %q, discount %s, want %q, %s", test.currency, view.Total, view.Discount, test.total, test.discount)
		}
	}
}

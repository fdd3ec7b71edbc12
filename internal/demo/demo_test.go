package demo_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/demo"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/testenv"
)

// newest is the reference of the newest demo order.
const newest = "DEMO-0060"

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// open returns a service with a new data folder. Its clock is always noon.
func open(t *testing.T) order.Services {
	t.Helper()
	services, _ := openAt(t, func() time.Time { return noon })
	return services
}

// openAt returns a service with a new data folder and a clock, and its store, which can
// be broken.
func openAt(t *testing.T, now func() time.Time) (order.Services, *breakable) {
	t.Helper()
	dir := t.TempDir()
	db := testenv.Of(store.OpenSQLite(t.Context(), filepath.Join(dir, "orders.db"), store.Options{})).Must(t)
	disk := testenv.Of(disk.Open(filepath.Join(dir, "files"))).Must(t)
	t.Cleanup(func() {
		testenv.NoError(t, db.Close())
		testenv.NoError(t, disk.Close())
	})
	s := &breakable{Stores: db}
	return order.NewServices(s, disk, now, slog.New(slog.DiscardHandler)), s
}

// breakable is a store whose imports can fail.
type breakable struct {
	order.Stores
	broken bool
}

func (s *breakable) ImportOrders(ctx context.Context, batch []order.Incoming, cause order.Cause) ([]order.ImportResult, error) {
	if s.broken {
		return nil, order.ErrUnavailable
	}
	return s.Stores.ImportOrders(ctx, batch, cause)
}

// all returns every demo order, newest first.
func all(t *testing.T, orders *order.Service) []order.Order {
	t.Helper()
	filter := order.NewFilter()
	filter.PageSize = order.MaxPageSize
	page := testenv.Of(orders.List(t.Context(), demo.MerchantID, filter)).Must(t)
	var found []order.Order
	for _, summary := range page.Orders {
		o := testenv.Of(orders.Get(t.Context(), demo.MerchantID, order.ByReference(summary.Reference))).Must(t)
		found = append(found, o)
	}
	return found
}

func prepare(t *testing.T, services order.Services, want demo.Result) {
	t.Helper()
	got, err := demo.Prepare(context.Background(), services, noon)
	if err != nil || got != want {
		t.Fatalf("got %v, %v, want %v", got, err, want)
	}
}

func TestPrepareCreatesOrdersInEveryState(t *testing.T) {
	t.Parallel()
	services := open(t)
	orders := services.Orders
	prepare(t, services, demo.Created)
	found := all(t, orders)
	testenv.Equal(t, "orders", 60, len(found))
	states, kinds := map[order.State]int{}, map[string]int{}
	for _, o := range found {
		states[o.State]++
		for kind, is := range map[string]bool{
			"guest":             o.Customer.UserID == 0,
			"without phone":     o.Customer.Phone == nil,
			"invoice requested": o.InvoiceDetails != nil,
			"Article 39":        o.InvoiceDetails != nil && o.InvoiceDetails.Article39Eligible == true,
			"notes":             o.Notes != nil,
			"discount":          o.Discount > 0,
			"VAT":               o.ShippingAmount != nil && o.LineItems[0].VATRate != "",
			"several lines":     len(o.LineItems) > 1,
			"gift wrap":         o.LineItems[0].GiftWrap,
			"pickup date":       o.LineItems[0].PickupDate != order.NoDay,
			"no pickup date":    o.LineItems[0].PickupDate == order.NoDay,
			"tracking":          o.Carrier.TrackingCodes != "",
			"other billing":     o.Billing.Street != o.Shipping.Street,
			"other currency":    o.Currency != "EUR",
			"invoice file":      len(o.Invoices) == 1,
		} {
			if is {
				kinds[kind]++
			}
		}
	}
	for _, state := range order.States() {
		if states[state] < 2 {
			t.Errorf("%d orders are %s, want 2 or more", states[state], state)
		}
	}
	for _, kind := range []string{"guest", "without phone", "invoice requested", "Article 39", "notes", "discount", "VAT", "several lines",
		"gift wrap", "pickup date", "no pickup date", "tracking", "other billing", "other currency", "invoice file"} {
		if kinds[kind] == 0 || kinds[kind] == len(found) {
			t.Errorf("%d of %d orders have: %s", kinds[kind], len(found), kind)
		}
	}
}

func TestTimesAreWithinSixWeeks(t *testing.T) {
	t.Parallel()
	services := open(t)
	orders := services.Orders
	prepare(t, services, demo.Created)
	for _, o := range all(t, orders) {
		if age := noon.Sub(o.CreatedAt); age <= 0 || age > 42*24*time.Hour {
			t.Errorf("%s was placed %s ago", o.Reference, age)
		}
		changed := !o.UpdatedAt.IsZero()
		if changed == (o.State == order.Registered) {
			t.Errorf("%s is %s and changed at %v", o.Reference, o.State, o.UpdatedAt)
		}
		if changed && (o.UpdatedAt.Before(o.CreatedAt) || o.UpdatedAt.After(noon)) {
			t.Errorf("%s was placed %s, changed %s", o.Reference, o.CreatedAt, o.UpdatedAt)
		}
		if o.State == order.Registered && !o.ExpiresAt.After(noon) {
			t.Errorf("%s has expired: %s", o.Reference, o.ExpiresAt)
		}
	}
}

func TestExampleIsTheNewestThatCanBeAccepted(t *testing.T) {
	t.Parallel()
	services := open(t)
	orders := services.Orders
	testenv.Of(demo.Example(t.Context(), orders)).Want(t, "without orders", "")
	prepare(t, services, demo.Created)
	found := all(t, orders)
	if found[0].Reference != newest || found[0].State != order.Registered {
		t.Errorf("the newest order is %s, %s", found[0].Reference, found[0].State)
	}
	for _, o := range found {
		if o.State != order.Registered {
			continue
		}
		testenv.Of(demo.Example(t.Context(), orders)).Want(t, "the example", o.Reference)
		testenv.Of(orders.Accept(t.Context(), order.CommandFor(demo.MerchantID), order.ByReference(o.Reference), order.Options[order.WriteResult]{})).Must(t)
	}
	testenv.Of(demo.Example(t.Context(), orders)).Want(t, "reference with nothing to accept", newest)
	testenv.Of(demo.Example(t.Context(), orders)).Want(t, "with nothing to accept", newest)
}

func TestPrepareDoesNotChangeAnExistingDemo(t *testing.T) {
	t.Parallel()
	services := open(t)
	orders := services.Orders
	prepare(t, services, demo.Created)
	testenv.Of(orders.Accept(t.Context(), order.CommandFor(demo.MerchantID), order.ByReference(newest), order.Options[order.WriteResult]{})).Must(t)
	before := all(t, orders)
	prepare(t, services, demo.Exists)
	testenv.Equal(t, "orders after a second start", before, all(t, orders))
}

func TestPrepareCompletesAnInterruptedDemo(t *testing.T) {
	t.Parallel()
	services := open(t)
	testenv.NoError(t, services.Merchants.Add(t.Context(), order.Command(), demo.MerchantID, demo.MerchantName, order.Options[order.Merchant]{}))
	prepare(t, services, demo.Created)
	prepare(t, services, demo.Exists)
}

func TestPrepareSkipsOtherMerchants(t *testing.T) {
	t.Parallel()
	for _, merchant := range []order.Merchant{{ID: 1, Name: "Other"}, {ID: demo.MerchantID, Name: "A real one"}} {
		services := open(t)
		testenv.NoError(t, services.Merchants.Add(t.Context(), order.Command(), merchant.ID, merchant.Name, order.Options[order.Merchant]{}))
		prepare(t, services, demo.Skipped)
		testenv.Equal(t, "merchants", 1, len(testenv.Of(services.Merchants.List(t.Context(), order.MerchantFilter{})).Must(t)))
		testenv.Equal(t, "created orders", 0, len(all(t, services.Orders)))
	}
}

func TestDocumentsAreDeterministic(t *testing.T) {
	t.Parallel()
	first := demo.Documents(noon)
	testenv.Equal(t, "documents of the same time", first, demo.Documents(noon))
	later := demo.Documents(noon.Add(1000 * time.Hour))
	times := regexp.MustCompile(`"\d{4}-\d\d-\d\d(T[\d:]+Z)?"`)
	for i := range first {
		a, b := times.ReplaceAll(first[i], nil), times.ReplaceAll(later[i], nil)
		testenv.Equal(t, fmt.Sprintf("document %d without its times", i), b, a)
	}
}

func TestDocumentsHaveNoRealContacts(t *testing.T) {
	t.Parallel()
	documents := demo.Documents(noon)
	for _, document := range documents {
		in := testenv.Of(ingest.Parse(document)).Must(t)
		o := in.Order
		if !strings.HasSuffix(o.Customer.Email, "@example.com") {
			t.Errorf("%s: e-mail %s", o.Reference, o.Customer.Email)
		}
		if !strings.Contains(o.Shipping.Phone, "000") || o.Customer.Phone != nil && !strings.Contains(*o.Customer.Phone, "000") {
			t.Errorf("%s: a phone number that may be assigned", o.Reference)
		}
		if d := o.InvoiceDetails; d != nil && !strings.HasPrefix(d.VATNumber, "000000") {
			t.Errorf("%s: VAT number %s", o.Reference, d.VATNumber)
		}
		for _, line := range o.LineItems {
			if !strings.HasPrefix(line.MerchantEAN, "200") || !validEAN(line.MerchantEAN) {
				t.Errorf("%s: barcode %s", o.Reference, line.MerchantEAN)
			}
		}
	}
}

func validEAN(code string) bool {
	sum := 0
	for i, c := range []byte(code) {
		weight := 1
		if i%2 == 1 {
			weight = 3
		}
		sum += weight * int(c-'0')
	}
	return len(code) == 13 && sum%10 == 0
}

func TestInvoiceFilesAreValidPDFs(t *testing.T) {
	t.Parallel()
	services := open(t)
	orders := services.Orders
	prepare(t, services, demo.Created)
	files := 0
	for _, o := range all(t, orders) {
		for _, invoice := range o.Invoices {
			files++
			_, file, err := orders.OpenInvoice(t.Context(), demo.MerchantID, o.Reference, invoice.Name)
			testenv.NoError(t, err)
			content := testenv.Of(io.ReadAll(file)).Must(t)
			testenv.NoError(t, file.Close())
			if sha256.Sum256(content) != invoice.SHA256 || int64(len(content)) != invoice.Size {
				t.Errorf("%s: the entry does not match the file", invoice.Name)
			}
			checkPDF(t, content, o.Reference)
		}
	}
	testenv.Equal(t, "invoice files", 3, files)
}

// checkPDF compares the table of a PDF with the offsets of its objects.
func checkPDF(t *testing.T, content []byte, text string) {
	t.Helper()
	match := regexp.MustCompile(`(?s)^%PDF-1\.4\n.*startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(content)
	if match == nil {
		t.Fatalf("not a PDF: %q", content)
	}
	start, _ := strconv.Atoi(string(match[1]))
	lines := strings.Split(string(content[start:]), "\n")
	if lines[0] != "xref" {
		t.Fatalf("startxref points at %q", lines[0])
	}
	for n := 1; n <= 5; n++ {
		at, _ := strconv.Atoi(strings.Fields(lines[2+n])[0])
		if want := strconv.Itoa(n) + " 0 obj\n"; !bytes.HasPrefix(content[at:], []byte(want)) {
			t.Errorf("the table has a wrong offset for object %d", n)
		}
	}
	if !bytes.Contains(content, []byte(text)) {
		t.Errorf("the page does not contain %s", text)
	}
}

func TestPDFEscapesItsText(t *testing.T) {
	t.Parallel()
	content := demo.PDF(`a (b) \c`)
	if !bytes.Contains(content, []byte(`(a \(b\) \\c)`)) {
		t.Errorf("got %s", content)
	}
	checkPDF(t, content, "a ")
}

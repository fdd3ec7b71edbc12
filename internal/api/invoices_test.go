package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/app"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// invoicePaths are the paths of the invoices of R-1 in both versions.
var invoicePaths = map[string]string{"v1": "/api/orders/101/invoices", "v2": "/v2/orders/R-1/invoices"}

// TestHundredFiles checks that an order has 100 files in all, deleted ones included,
// whatever their names.
// Proves decision 6 (three at once, 100 in all).
func TestHundredFiles(t *testing.T) {
	t.Parallel()
	s := start(t)
	paths := []string{invoicePaths["v1"], invoicePaths["v2"]}
	for i := range 100 {
		name := []string{"a.pdf", fmt.Sprintf("%d.pdf", i)}[i%2]
		s.Send(s.merchant, "POST", paths[i/2%2], apptest.UploadBody(name, []byte("x"))).WantStatus(t, http.StatusOK)
		s.Send(s.merchant, "DELETE", fmt.Sprintf("%s/%d", paths[i/2%2], i+1), "").WantStatus(t, http.StatusOK)
	}
	for _, path := range paths {
		s.expect("POST", path, apptest.UploadBody("b.pdf", []byte("x")), 400, `{"message":"You cannot upload more than 3 files."}`)
	}
	testenv.Equal(t, "stored files", 100, len(s.storedFiles()))
}

// TestUploadForm sends forms as clients do that repeat a request: each has another boundary.
// Proves decision 9 (uploads as forms).
func TestUploadForm(t *testing.T) {
	t.Parallel()
	s := start(t)
	boundaries := 0
	send := func(key, path, filename, content string) testenv.Response {
		boundaries++
		body, header := apptest.UploadForm(fmt.Sprintf("boundary-%d", boundaries), filename, []byte(content))
		if key != "" {
			header = append(header, "Idempotency-Key", key)
		}
		return s.Send(s.merchant, "POST", path, body, header...)
	}
	const v2 = "/v2/orders/R-1/invoices"
	stored := send("k", v2, "τιμολόγιο.pdf", "a file")
	stored.Want(t, "upload", 200, fmt.Sprintf(`{"message":"success","invoice":{"id":1,"url":"%s/invoices/R-1/%%CF%%84%%CE%%B9%%CE%%BC%%CE%%BF%%CE%%BB%%CF%%8C%%CE%%B3%%CE%%B9%%CE%%BF.pdf","created_at":"2026-11-20T10:00:00Z"}}`, storageURL))
	file := testenv.Of(apptest.Uploaded(stored)).Must(t)
	testenv.Equal(t, "content", "a file", s.Send(s.merchant, "GET", file.Path(t), "").Body)
	for _, test := range []struct {
		name, key, path, filename, content string
		status                             int
		want                               string // empty: that of the first
		replayed                           bool
	}{
		{"same key", "k", v2, "τιμολόγιο.pdf", "a file", 200, "", true},
		{"same key, other content", "k", v2, "τιμολόγιο.pdf", "a fil_", 422, `{"message":"The Idempotency-Key was used for another request."}`, false},
		{"same key, other name", "k", v2, "b.pdf", "a file", 422, `{"message":"The Idempotency-Key was used for another request."}`, false},
		{"wrong type", "type", v2, "a.exe", "x", 400, `{"message":"The file type is not supported."}`, false},
		{"wrong type again", "type", v2, "a.exe", "x", 400, `{"message":"The file type is not supported."}`, true},
		{"no content", "empty", v2, "a.pdf", "", 400, `{"message":"Invalid payload."}`, false},
		{"no content for a used key", "k", v2, "a.pdf", "", 422, `{"message":"The Idempotency-Key was used for another request."}`, false},
		{"no order, no content", "", "/v2/orders/NONE/invoices", "a.pdf", "", 400, `{"message":"Invalid payload."}`, false},
		{"no order, wrong type", "", "/v2/orders/NONE/invoices", "a.exe", "x", 404, `{"message":"The order with id NONE was not found"}`, false},
		{"too big", "", v2, "a.pdf", strings.Repeat("x", order.MaxInvoiceSize+1), 400, `{"message":"The file size is too big."}`, false},
		{"far too big", "", "/v2/orders/NONE/invoices", "a.exe", strings.Repeat("x", 12<<20), 400, `{"message":"The file size is too big."}`, false},
		{"version 1", "", invoicePaths["v1"], "a.pdf", "x", 400, `{"message":"Invalid payload."}`, false},
	} {
		got := send(test.key, test.path, test.filename, test.content)
		if test.want == "" {
			test.want = stored.Body
		}
		got.Want(t, test.name, test.status, test.want)
		testenv.Equal(t, test.name+": replayed", test.replayed, got.Replayed())
	}
	testenv.Equal(t, "stored files", 1, len(s.storedFiles()))
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/mixed; boundary=b"} {
		upload := s.Send(s.merchant, "POST", v2, apptest.UploadBody("b.pdf", []byte("x")), "Content-Type", contentType)
		upload.WantStatus(t, http.StatusOK)
		s.Send(s.merchant, "DELETE", fmt.Sprintf("%s/%d", v2, testenv.Of(apptest.Uploaded(upload)).Must(t).ID), "").WantStatus(t, http.StatusOK)
	}
}

// TestInvoiceData checks that version 2 shows what was said of a file, wherever it shows files,
// and version 1 what is published.
// Proves decision 9 (data of invoice files).
func TestInvoiceData(t *testing.T) {
	t.Parallel()
	s := start(t)
	entry := func(id int, name, data string) string {
		return fmt.Sprintf(`{"id":%d,"url":"%s/invoices/R-1/%s","created_at":"2026-11-20T10:00:00Z"%s}`, id, storageURL, name, data)
	}
	const v2, all = "/v2/orders/R-1/invoices", `"kind":"credit-note","number":"Τ.Π. 7","mark":"400001234567890","link":"https://provider.example/7"`
	body := strings.Replace(apptest.UploadBody("a.pdf", []byte("x")), "{", "{"+all+",", 1)
	form, header := apptest.UploadForm("b", "b.pdf", []byte("x"), "number", "INV/8")
	a, b := entry(1, "a.pdf", ","+all), entry(2, "b.pdf", `,"number":"INV/8"`)
	s.expect("POST", v2, body, 200, `{"message":"success","invoice":`+a+`}`)
	s.Send(s.merchant, "POST", v2, form, header...).Want(t, "a form", 200, `{"message":"success","invoice":`+b+`}`)
	wrong := strings.Replace(apptest.UploadBody("c.pdf", []byte("x")), "{", `{"kind":"x","Mark":1,`, 1)
	refused := s.expect("POST", v2, wrong, 400, `{"message":"Invalid payload."}`)
	testenv.Equal(t, "detail", "kind must be one of invoice, credit-note, receipt.", refused.Header.Get("Error-Detail"))
	s.expect("POST", invoicePaths["v1"], wrong, 200, `{"message":"success","invoice":`+entry(3, "c.pdf", "")+`}`)

	s.Send(s.merchant, "GET", "/v2/orders/R-1", "").WantText(t, 200, `"invoices":[`+a+","+b+","+entry(3, "c.pdf", "")+"]")
	s.Send(s.merchant, "GET", "/v2/orders/export", "").WantText(t, 200, `"invoices":[`+a+","+b)
	published := `"invoices":[` + entry(1, "a.pdf", "") + "," + entry(2, "b.pdf", "") + "," + entry(3, "c.pdf", "") + "]"
	s.Send(s.merchant, "GET", "/api/orders/101", "").WantText(t, 200, published)
	s.expect("DELETE", v2+"/3", "", 200, `{"message":"success","invoices":[`+a+","+b+"]}")
	s.expect("DELETE", invoicePaths["v1"]+"/1", "", 200, `{"message":"success","invoices":[`+entry(2, "b.pdf", "")+"]}")
}

// TestRefusedUploadLeavesNoFile checks that no file of a refused upload remains.
func TestRefusedUploadLeavesNoFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, upload := range []struct{ path, body string }{
		{"/api/orders/999/invoices", apptest.UploadBody("a.pdf", []byte("x"))},
		{"/v2/orders/R-1/invoices", apptest.UploadBody("a.exe", []byte("x"))},
		{"/v2/orders/R-1/invoices", apptest.UploadBody("a.pdf", bytes.Repeat([]byte("x"), order.MaxInvoiceSize+1))},
		{"/v2/orders/R-1/invoices", strings.TrimSuffix(apptest.UploadBody("a.pdf", bytes.Repeat([]byte("x"), 100_000)), "}")},
	} {
		if got := s.Send(s.merchant, "POST", upload.path, upload.body); got.Status == http.StatusOK {
			t.Errorf("%s: %s", upload.path, got.Body)
		}
		if left := s.storedFiles(); len(left) > 0 {
			t.Errorf("%s, %.30s: %v left", upload.path, upload.body, left)
		}
	}
	s.Send(s.merchant, "POST", "/v2/orders/R-1/invoices", apptest.UploadBody("a.pdf", []byte("x")))
	testenv.Equal(t, "stored files", 1, len(s.storedFiles()))
}

// fullDisk stages files that cannot be written.
type fullDisk struct{ order.Files }

var errFull = errors.New("no space left on /secret/path")

type fullFile struct{ order.StagedFile }

func (f fullDisk) Stage(ctx context.Context) (order.StagedFile, error) {
	staged, err := f.Files.Stage(ctx)
	return fullFile{staged}, err
}

func (fullFile) Write([]byte) (int, error) { return 0, errFull }

// unstageable cannot stage files.
type unstageable struct{ order.Files }

func (unstageable) Stage(context.Context) (order.StagedFile, error) { return nil, errFull }

// uncommittable stages files that cannot be committed.
type uncommittable struct{ order.Files }

type uncommittableFile struct{ order.StagedFile }

func (f uncommittable) Stage(ctx context.Context) (order.StagedFile, error) {
	staged, err := f.Files.Stage(ctx)
	return uncommittableFile{staged}, err
}

func (uncommittableFile) Commit(context.Context, string) error {
	return errors.Join(order.ErrUnavailable, errFull)
}

// outOfReach is a database that is not available.
type outOfReach struct{ app.Store }

func (outOfReach) InTx(context.Context, func(order.Tx) error) error {
	return fmt.Errorf("dial tcp 10.0.0.1: %w", order.ErrUnavailable)
}

func (outOfReach) Order(context.Context, int64, order.Identifier) (order.Order, error) {
	return order.Order{}, errors.New("SELECT secret FROM orders")
}

func (outOfReach) List(context.Context, int64, order.Filter) (order.Page, error) {
	return order.Page{}, fmt.Errorf("dial tcp 10.0.0.1: %w", order.ErrUnavailable)
}

// TestUploadFailures checks that every failure of an upload has the same response and
// leaves no file.
// Proves spec 7.1.
func TestUploadFailures(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]apptest.Setup{
		"full disk":    {Files: func(f order.Files) order.Files { return fullDisk{f} }},
		"no staging":   {Files: func(f order.Files) order.Files { return unstageable{f} }},
		"no publish":   {Files: func(f order.Files) order.Files { return uncommittable{f} }},
		"out of reach": {Store: func(s app.Store) app.Store { return outOfReach{s} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startWith(t, with)
			for _, path := range invoicePaths {
				got := s.expect("POST", path, apptest.UploadBody("a.pdf", bytes.Repeat([]byte("x"), 1<<20)), 500, `{"message":"There were errors during the upload."}`)
				testenv.Equal(t, "Retry-After of a failed upload", "", got.Header.Get("Retry-After"))
			}
			testenv.Contains(t, "metrics", s.metricsText(), `merchant_orders_uploads_total{result="failed"} 2`)
			testenv.Equal(t, "invoices", 0, len(testenv.Of(s.Orders.Get(t.Context(), 355, order.ByLegacyID(101))).Must(t).Invoices))
		})
	}
}

// TestDatabaseFailures checks the responses when the database is not available or
// fails, in both forms, and that they do not show the cause.
// Proves decision 5 (word codes; faults, 503).
func TestDatabaseFailures(t *testing.T) {
	t.Parallel()
	s := startWith(t, apptest.Setup{Store: func(s app.Store) app.Store { return outOfReach{s} }})
	const v1Unavailable = `{"message":"Service Unavailable"}`
	const v2Unavailable = `{"error":{"code":"unavailable","message":"The service cannot answer for now."}}`
	for _, got := range []testenv.Response{
		s.expect("GET", "/api/orders", "", 503, v1Unavailable),
		s.expect("PUT", "/api/orders/101", `{"status":"G"}`, 503, v1Unavailable),
		s.expect("DELETE", "/api/orders/101/invoices/1", "", 503, v1Unavailable),
		s.expect("GET", "/v2/orders", "", 503, v2Unavailable),
		s.expect("PATCH", "/v2/orders/R-1/accept", "", 503, v2Unavailable),
		s.expect("DELETE", "/v2/orders/R-1/invoices/1", "", 503, v1Unavailable),
	} {
		if got.Header.Get("Retry-After") == "" {
			t.Error("503 without Retry-After")
		}
	}
	s.expect("GET", "/api/orders/101", "", 500, `{"message":"Internal Server Error"}`)
	s.expect("GET", "/v2/orders/R-1", "", 500, `{"error":{"code":"internal","message":"The service failed to answer."}}`)
}

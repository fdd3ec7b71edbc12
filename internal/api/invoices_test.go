package api_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// uploadBody returns the body of an upload.
func uploadBody(filename, content string) string {
	body, _ := json.Marshal(map[string]string{
		"filename": filename, "contentBase64": base64.StdEncoding.EncodeToString([]byte(content)),
	})
	return string(body)
}

// entry returns the JSON of a file, the same in both versions.
func entry(id int, reference, name, created string) string {
	return fmt.Sprintf(`{"id":%d,"url":"%s/invoices/%s/%s","created_at":"%s"}`, id, storageURL, reference, name, created)
}

// invoicePaths are the paths of the invoices of R-1 in both versions.
var invoicePaths = map[string]string{"v1": "/api/orders/101/invoices", "v2": "/v2/orders/R-1/invoices"}

// TestInvoices uploads and deletes in both versions.
func TestInvoices(t *testing.T) {
	t.Parallel()
	for version, path := range invoicePaths {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			one := entry(1, "R-1", "a.pdf", "2026-11-20T10:00:00Z")
			two := entry(2, "R-1", "a-1.pdf", "2026-11-20T10:00:09Z")
			three := entry(3, "R-1", "%CF%84%20%25.JPeG", "2026-11-20T10:00:09Z")
			four := entry(4, "R-1", "a-2.pdf", "2026-11-20T10:00:09Z")
			s.expect("POST", path, uploadBody("a.pdf", "first"), 200, `{"message":"success","invoice":`+one+`}`)
			s.At(9 * time.Second)
			s.expect("POST", path, uploadBody(`C:\scans\a.pdf`, "second"), 200, `{"message":"success","invoice":`+two+`}`)
			s.expect("POST", path+"/", uploadBody("../../τ %.JPeG", "third"), 200, `{"message":"success","invoice":`+three+`}`)
			s.expect("POST", path, uploadBody("b.pdf", "fourth"), 400, `{"message":"You cannot upload more than 3 files."}`)

			for _, single := range []string{"/api/orders/101", "/v2/orders/R-1"} {
				if got := s.Send(s.merchant, "GET", single, ""); !strings.Contains(got.Body, `"invoices":[`+one+","+two+","+three+`]`) {
					t.Errorf("%s does not show the invoices: %s", single, got.Body)
				}
			}
			s.expect("DELETE", path+"/1", "", 200, `{"message":"success","invoices":[`+two+","+three+`]}`)
			s.expect("DELETE", path+"/1", "", 404, `{"message":"The invoice was not found."}`)
			s.expect("POST", path, uploadBody("a.pdf", "again"), 200, `{"message":"success","invoice":`+four+`}`)
			s.expect("DELETE", path+"/2", "", 200, `{"message":"success","invoices":[`+three+","+four+`]}`)
			s.expect("DELETE", path+"/3/", "", 200, `{"message":"success","invoices":[`+four+`]}`)
			s.expect("DELETE", path+"/4", "", 200, `{"message":"success","invoices":[]}`)
		})
	}
}

// TestHundredFiles checks that an order has 100 files in all, deleted ones included,
// whatever their names.
func TestHundredFiles(t *testing.T) {
	t.Parallel()
	s := start(t)
	paths := []string{invoicePaths["v1"], invoicePaths["v2"]}
	for i := range 100 {
		name := []string{"a.pdf", fmt.Sprintf("%d.pdf", i)}[i%2]
		s.Send(s.merchant, "POST", paths[i/2%2], uploadBody(name, "x")).WantStatus(t, http.StatusOK)
		s.Send(s.merchant, "DELETE", fmt.Sprintf("%s/%d", paths[i/2%2], i+1), "").WantStatus(t, http.StatusOK)
	}
	for _, path := range paths {
		s.expect("POST", path, uploadBody("b.pdf", "x"), 400, `{"message":"You cannot upload more than 3 files."}`)
	}
	stored := len(s.storedFiles())
	if stored != 100 {
		t.Errorf("%d files are stored, want 100", stored)
	}
}

// TestUploadRefusals goes through spec 7.1 in the order of the checks: body, order,
// extension, size, count.
func TestUploadRefusals(t *testing.T) {
	t.Parallel()
	const payload, fileType = `{"message":"Invalid payload."}`, `{"message":"The file type is not supported."}`
	const tooBig, tooMany = `{"message":"The file size is too big."}`, `{"message":"You cannot upload more than 3 files."}`
	bigContent := strings.Repeat("x", order.MaxInvoiceSize+1)
	for version, path := range invoicePaths {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			missing, id := strings.NewReplacer("101", "999", "R-1", "Y-1").Replace(path), "999"
			if version == "v2" {
				id = "Y-1"
			}
			for _, body := range []string{
				"", "null", "[]", "{}", "x", `{"filename":"a.pdf"}`, `{"contentBase64":"YQ=="}`, `{"filename":"","contentBase64":"YQ=="}`,
				`{"filename":"a.pdf","contentBase64":""}`, `{"filename":"a.pdf","contentBase64":"YQ"}`, `{"filename":5,"contentBase64":"YQ=="}`,
				`{"filename":"a.pdf","contentBase64":null}`, `{"filename":"a.pdf","contentBase64":"data:application/pdf;base64,YQ=="}`,
				`{"FILENAME":"a.pdf","contentBase64":"YQ=="}`, `{"filename":"a.pdf","contentBase64":"YQ=="} x`,
			} {
				s.expect("POST", path, body, 400, payload)
				s.expect("POST", missing, body, 400, payload)
			}
			s.expect("POST", missing, uploadBody("a.exe", bigContent), 404, v1NotFound(id))
			s.expect("POST", path, uploadBody("a.exe", bigContent), 400, fileType)
			for _, name := range []string{"pdf", "a", "a.pdf.exe", "a.pdf ", "a.pdf/", "a.ρdf", "a.pdf.", "\x00"} {
				s.expect("POST", path, uploadBody(name, "x"), 400, fileType)
			}
			s.expect("POST", path, uploadBody("a.pdf", bigContent), 400, tooBig)
			s.expect("POST", path, uploadBody("a.pdf", bigContent[1:]), 200,
				`{"message":"success","invoice":`+entry(1, "R-1", "a.pdf", "2026-11-20T10:00:00Z")+`}`)
			for _, name := range []string{"b.png", "c.jpg"} {
				s.Send(s.merchant, "POST", path, uploadBody(name, "x")).WantStatus(t, http.StatusOK)
			}
			s.expect("POST", path, uploadBody("a.pdf", bigContent), 400, tooBig)
			s.expect("POST", path, uploadBody("a.exe", "x"), 400, fileType)
			s.expect("POST", path, uploadBody("d.pdf", "x"), 400, tooMany)
		})
	}
}

// TestRefusedUploadLeavesNoFile checks that no file of a refused upload remains.
func TestRefusedUploadLeavesNoFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, upload := range []struct{ path, body string }{
		{"/api/orders/999/invoices", uploadBody("a.pdf", "x")},
		{"/v2/orders/R-1/invoices", uploadBody("a.exe", "x")},
		{"/v2/orders/R-1/invoices", uploadBody("a.pdf", strings.Repeat("x", order.MaxInvoiceSize+1))},
		{"/v2/orders/R-1/invoices", strings.TrimSuffix(uploadBody("a.pdf", strings.Repeat("x", 100_000)), "}")},
	} {
		if got := s.Send(s.merchant, "POST", upload.path, upload.body); got.Status == http.StatusOK {
			t.Errorf("%s: %s", upload.path, got.Body)
		}
		if left := s.storedFiles(); len(left) > 0 {
			t.Errorf("%s, %.30s: %v left", upload.path, upload.body, left)
		}
	}
	s.Send(s.merchant, "POST", "/v2/orders/R-1/invoices", uploadBody("a.pdf", "x"))
	if stored := s.storedFiles(); len(stored) != 1 {
		t.Errorf("stored %v, want one file", stored)
	}
}

// TestUploadTooLong checks that a body over 11 MiB is refused whatever else is wrong
// with it, with and without Content-Length, but not before authentication.
func TestUploadTooLong(t *testing.T) {
	t.Parallel()
	const tooBig = `{"message":"The file size is too big."}`
	s := start(t)
	pad := func(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }
	longest, tooLong := 11<<20, 11<<20+1
	for path, body := range map[string]string{
		"/api/orders/101/invoices": pad(uploadBody("a.pdf", "x"), tooLong),
		"/api/orders/999/invoices": pad("[", tooLong),
		"/v2/orders/R-1/invoices":  pad(uploadBody("a.exe", "x"), tooLong),
		"/v2/orders/Y-1/invoices":  pad("", tooLong),
	} {
		declared := s.Send(s.merchant, "POST", path, body)
		declared.Want(s.T, path+", declared", http.StatusBadRequest, tooBig)
		chunked := s.SendStream(s.merchant, "POST", path, io.MultiReader(strings.NewReader(body)))
		chunked.Want(s.T, path+", chunked", http.StatusBadRequest, tooBig)
	}
	s.Send("", "POST", "/v2/orders/R-1/invoices", pad("", tooLong)).Want(s.T, "no token", http.StatusUnauthorized, v1Unauthorized)
	for i, path := range []string{"/api/orders/101/invoices", "/v2/orders/R-1/invoices"} {
		name := []string{"a.pdf", "a-1.pdf"}[i]
		s.expect("POST", path, pad(uploadBody("a.pdf", "x"), longest), 200,
			`{"message":"success","invoice":`+entry(i+1, "R-1", name, "2026-11-20T10:00:00Z")+`}`)
	}
}

// TestInvoicePaths sends identifiers without the form of one.
func TestInvoicePaths(t *testing.T) {
	t.Parallel()
	s := start(t)
	const params, notFound = `{"message":"Invalid request params."}`, `{"message":"The invoice was not found."}`
	for _, id := range []string{"0", "-1", "x", "1.0", "+1", "01", "%00", "%FF", "1%2F2", ".%2e"} {
		s.expect("DELETE", "/api/orders/101/invoices/"+id, "", 400, params)
		s.expect("DELETE", "/v2/orders/R-1/invoices/"+id, "", 400, params)
		s.expect("DELETE", "/v2/orders/Y-1/invoices/"+id, "", 400, params)
		s.expect("DELETE", "/api/orders/"+id+"/invoices/1", "", 400, params)
	}
	for _, id := range []string{"1", "99999999999999999999"} {
		s.expect("DELETE", "/api/orders/101/invoices/"+id, "", 404, notFound)
		s.expect("DELETE", "/v2/orders/R-1/invoices/"+id, "", 404, notFound)
		s.expect("DELETE", "/api/orders/999/invoices/"+id, "", 404, notFound)
		s.expect("DELETE", "/api/orders/99999999999999999999/invoices/"+id, "", 404, notFound)
		s.expect("DELETE", "/v2/orders/%00/invoices/"+id, "", 404, notFound)
	}
	body := uploadBody("a.pdf", "x")
	s.expect("POST", "/api/orders/abc/invoices", body, 404, v1NotFound("abc"))
	s.expect("POST", "/api/orders/99999999999999999999/invoices", body, 404, v1NotFound("99999999999999999999"))
	s.expect("POST", "/api/orders/abc/invoices", "{}", 400, `{"message":"Invalid payload."}`)
	s.expect("POST", "/v2/orders/%FF/invoices", body, 404, v1NotFound("\ufffd"))

	// An invoice of another order.
	s.Send(s.merchant, "POST", "/api/orders/101/invoices", body)
	s.expect("DELETE", "/api/orders/102/invoices/1", "", 404, notFound)
	s.expect("DELETE", "/v2/orders/R-2/invoices/1", "", 404, notFound)
}

// TestConcurrentUploads uploads 24 files at once through both versions.
func TestConcurrentUploads(t *testing.T) {
	t.Parallel()
	s := start(t)
	var stored atomic.Int32
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			path := invoicePaths[[]string{"v1", "v2"}[i%2]]
			switch got := s.Send(s.merchant, "POST", path, uploadBody("same.pdf", fmt.Sprint("content ", i))); got.Status {
			case http.StatusOK:
				stored.Add(1)
			case http.StatusBadRequest:
			default:
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	}
	all.Wait()
	if stored.Load() != order.MaxInvoices {
		t.Errorf("%d uploads succeeded, want %d", stored.Load(), order.MaxInvoices)
	}
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
func TestUploadFailures(t *testing.T) {
	t.Parallel()
	setups := map[string]apptest.Setup{
		"full disk":    {Files: func(f order.Files) order.Files { return fullDisk{f} }},
		"no drafts":    {Files: func(f order.Files) order.Files { return unstageable{f} }},
		"no publish":   {Files: func(f order.Files) order.Files { return uncommittable{f} }},
		"out of reach": {Store: func(s app.Store) app.Store { return outOfReach{s} }},
	}
	for name, with := range setups {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startWith(t, with)
			for _, path := range invoicePaths {
				got := s.expect("POST", path, uploadBody("a.pdf", strings.Repeat("x", 1<<20)), 500, `{"message":"There were errors during the upload."}`)
				if got.Header.Get("Retry-After") != "" {
					t.Error("a failed upload has Retry-After")
				}
			}
			o, err := s.Orders.Get(t.Context(), 355, order.ByLegacyID(101))
			if err != nil || len(o.Invoices) != 0 {
				t.Errorf("invoices %v, error %v", o.Invoices, err)
			}
		})
	}
}

// TestDatabaseFailures checks the responses when the database is not available or
// fails, in both forms, and that they do not show the cause.
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

// TestUploadMetrics checks that every upload is counted once.
func TestUploadMetrics(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Send(s.merchant, "POST", "/api/orders/101/invoices", uploadBody("a.pdf", "12345"))
	s.Send(s.merchant, "POST", "/v2/orders/R-1/invoices", uploadBody("a.pdf", "1234567"))
	s.Send(s.merchant, "POST", "/v2/orders/R-1/invoices", uploadBody("a.exe", "1"))
	s.Send(s.merchant, "POST", "/v2/orders/R-1/invoices", "")
	got := s.metricsText()
	for _, want := range []string{
		`merchant_orders_uploads_total{result="stored"} 2`,
		`merchant_orders_uploads_total{result="refused"} 2`,
		`merchant_orders_uploaded_bytes_total 12`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the metrics have no %q", want)
		}
	}
}

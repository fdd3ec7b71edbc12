package api_test

import (
	"context"
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

// withKey sends a request of the merchant with an Idempotency-Key.
func (s *service) withKey(key, method, path, body string) testenv.Response {
	s.T.Helper()
	return s.Send(s.merchant, method, path, body, "Idempotency-Key", key)
}

// TestIdempotencyRetention checks that a response is replayed for 24 hours.
// Proves decision 8 (replay).
func TestIdempotencyRetention(t *testing.T) {
	t.Parallel()
	s := start(t)
	accept := func() testenv.Response { return s.withKey("k", "PATCH", "/v2/orders/R-1/accept", "") }
	accept().Want(s.T, "the first", 200, success2)
	s.At(24*3600 - 1*time.Second)
	if a := accept(); a.Status != 200 || !a.Replayed() {
		t.Errorf("a second before the end: %d %s", a.Status, a.Body)
	}
	testenv.Of(s.Orders.DeleteExpiredIdempotencyRecords(t.Context())).Want(t, "deleted records", 0)
	s.At(24 * 3600 * time.Second)
	if a := accept(); a.Status != 400 || a.Replayed() {
		t.Errorf("after a day: %d %s", a.Status, a.Body)
	}
	if a := accept(); a.Status != 400 || !a.Replayed() {
		t.Errorf("the same again: %d %s", a.Status, a.Body)
	}
	s.At(48 * 3600 * time.Second)
	testenv.Of(s.Orders.DeleteExpiredIdempotencyRecords(t.Context())).Want(t, "deleted records", 1)
}

// failingStore is a database that cannot be written while broken is set.
type failingStore struct {
	app.Store
	broken *atomic.Bool
}

func (s failingStore) InTx(ctx context.Context, fn func(order.Tx) error) error {
	if s.broken.Load() {
		return outOfReach{}.InTx(ctx, fn)
	}
	return s.Store.InTx(ctx, fn)
}

// TestFailuresAreNotRecorded checks that a failure of the service is not recorded: a
// retry makes the change.
// Proves decision 8 (errors, order of checks).
func TestFailuresAreNotRecorded(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	s := startWith(t, apptest.Setup{
		Store: func(s app.Store) app.Store { return failingStore{s, &broken} },
		Files: func(f order.Files) order.Files { return failingFiles{f, &broken} },
	})
	for _, r := range []struct{ method, path, body string }{
		{"PUT", "/api/orders/101", `{"status":"G"}`},
		{"PATCH", "/v2/orders/R-2/reject", ""},
		{"POST", "/v2/orders/R-3/invoices", `{"filename":"a.pdf","contentBase64":"YQ=="}`},
		{"POST", "/api/orders/104/invoices", `{"filename":"a.pdf","contentBase64":"YQ=="}`},
	} {
		key := r.method + r.path
		broken.Store(true)
		for range 2 {
			if a := s.withKey(key, r.method, r.path, r.body); a.Status < 500 || a.Replayed() {
				t.Errorf("%s, broken: %d %s", r.path, a.Status, a.Body)
			}
		}
		broken.Store(false)
		for i := range 2 {
			if a := s.withKey(key, r.method, r.path, r.body); a.Status != 200 || a.Replayed() != (i == 1) {
				t.Errorf("%s, repaired: %d %s, replayed %v", r.path, a.Status, a.Body, a.Replayed())
			}
		}
	}
}

// failingFiles are files that cannot be made durable while broken is set.
type failingFiles struct {
	order.Files
	broken *atomic.Bool
}

func (f failingFiles) Stage(ctx context.Context) (order.StagedFile, error) {
	if f.broken.Load() {
		return uncommittable{f.Files}.Stage(ctx)
	}
	return f.Files.Stage(ctx)
}

// heldFiles blocks commits until release is closed.
type heldFiles struct {
	order.Files
	waiting chan struct{} // receives a value for each file that waits
	release chan struct{} // closed to release them
}

type heldFile struct {
	order.StagedFile
	files heldFiles
}

func (f heldFiles) Stage(ctx context.Context) (order.StagedFile, error) {
	staged, err := f.Files.Stage(ctx)
	return heldFile{staged, f}, err
}

func (d heldFile) Commit(ctx context.Context, path string) error {
	d.files.waiting <- struct{}{}
	<-d.files.release
	return d.StagedFile.Commit(ctx, path)
}

// TestRepeatedUpload repeats an upload while the first is still running: it gets 409
// in the version's form, and the first response once that is there. The metrics count
// one file.
// Proves decision 8 (simultaneous requests).
func TestRepeatedUpload(t *testing.T) {
	t.Parallel()
	held := heldFiles{waiting: make(chan struct{}, 9), release: make(chan struct{})}
	s := startWith(t, apptest.Setup{Files: func(f order.Files) order.Files { held.Files = f; return held }})
	const running, reused = "The first request with this Idempotency-Key is still running.", "The Idempotency-Key was used for another request."
	tests := []struct{ path, running, reused string }{
		{"/api/orders/101/invoices", `{"message":"` + running + `"}`, `{"message":"` + reused + `"}`},
		{
			"/v2/orders/R-2/invoices",
			`{"message":"` + running + `"}`,
			`{"message":"` + reused + `"}`,
		},
	}
	const body = `{"filename":"a.pdf","contentBase64":"YQ=="}`
	firsts := make([]testenv.Response, len(tests))
	var uploads sync.WaitGroup
	for i, test := range tests {
		uploads.Go(func() { firsts[i] = s.withKey(test.path, "POST", test.path, body) })
		<-held.waiting
		running := s.withKey(test.path, "POST", test.path, body)
		running.Want(s.T, test.path+", repeated", http.StatusConflict, test.running)
		testenv.Equal(t, "Retry-After", "1", running.Header.Get("Retry-After"))
		other := s.withKey(test.path, "POST", test.path, strings.Replace(body, "YQ", "Yg", 1))
		other.Want(t, test.path+", with other bytes", http.StatusUnprocessableEntity, test.reused)
	}
	close(held.release)
	uploads.Wait()
	for i, test := range tests {
		again := s.withKey(test.path, "POST", test.path, body)
		again.Want(s.T, test.path+", replayed", 200, firsts[i].Body)
		if firsts[i].Replayed() || !again.Replayed() || firsts[i].Status != 200 {
			t.Errorf("%s: %+v, then %+v", test.path, firsts[i], again)
		}
	}
	testenv.Equal(t, "files", len(tests), len(s.storedFiles()))
	testenv.Contains(t, "metrics", s.metricsText(),
		`merchant_orders_uploads_total{result="stored"} 2`,
		`merchant_orders_uploads_total{result="refused"} 4`,
		`merchant_orders_uploaded_bytes_total 2`,
	)
}

// brokenRecord is a store with a recorded response that cannot be decoded.
type brokenRecord struct{ app.Store }

func (brokenRecord) InTx(context.Context, func(order.Tx) error) error {
	return &order.ReplayError{Response: []byte("{")}
}

func TestBrokenRecord(t *testing.T) {
	t.Parallel()
	s := startWith(t, apptest.Setup{Store: func(s app.Store) app.Store { return brokenRecord{s} }})
	s.withKey("k", "PATCH", "/v2/orders/R-1/accept", "").Want(t, "accept", 500,
		`{"error":{"code":"internal","message":"The service failed to answer."}}`)
}

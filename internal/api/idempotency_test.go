package api_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"merchantorders/internal/order"
)

// withKey sends a request of the merchant with an Idempotency-Key.
func (s *service) withKey(key, method, path, body string) response {
	s.t.Helper()
	return s.send(s.merchant, method, path, strings.NewReader(body), http.Header{"Idempotency-Key": {key}})
}

// replayed reports whether a response is a replay.
func (a response) replayed() bool { return a.header.Get("Idempotent-Replayed") == "true" }

// TestIdempotencyRetention checks that a response is replayed for 24 hours.
func TestIdempotencyRetention(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	accept := func() response { return s.withKey("k", "PATCH", "/v2/orders/R-1/accept", "") }
	s.compare("the first", accept(), 200, success2)
	s.seconds.Store(24*3600 - 1)
	if a := accept(); a.status != 200 || !a.replayed() {
		t.Errorf("a second before the end: %d %s", a.status, a.body)
	}
	if n, err := s.orders.DeleteExpiredIdempotencyRecords(t.Context()); n != 0 || err != nil {
		t.Errorf("deleted %d records, error %v", n, err)
	}
	s.seconds.Store(24 * 3600)
	if a := accept(); a.status != 400 || a.replayed() {
		t.Errorf("after a day: %d %s", a.status, a.body)
	}
	if a := accept(); a.status != 400 || !a.replayed() {
		t.Errorf("the same again: %d %s", a.status, a.body)
	}
	s.seconds.Store(48 * 3600)
	if n, err := s.orders.DeleteExpiredIdempotencyRecords(t.Context()); n != 1 || err != nil {
		t.Errorf("deleted %d records, error %v", n, err)
	}
}

// failingStore is a database that cannot be written while broken is set.
type failingStore struct {
	order.Store
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
func TestFailuresAreNotRecorded(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	s := start(t, setup{
		store: func(s order.Store) order.Store { return failingStore{s, &broken} },
		files: func(f order.Files) order.Files { return failingFiles{f, &broken} },
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
			if a := s.withKey(key, r.method, r.path, r.body); a.status < 500 || a.replayed() {
				t.Errorf("%s, broken: %d %s", r.path, a.status, a.body)
			}
		}
		broken.Store(false)
		for i := range 2 {
			if a := s.withKey(key, r.method, r.path, r.body); a.status != 200 || a.replayed() != (i == 1) {
				t.Errorf("%s, repaired: %d %s, replayed %v", r.path, a.status, a.body, a.replayed())
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
func TestRepeatedUpload(t *testing.T) {
	t.Parallel()
	held := heldFiles{waiting: make(chan struct{}, 9), release: make(chan struct{})}
	s := start(t, setup{files: func(f order.Files) order.Files { held.Files = f; return held }})
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
	firsts := make([]response, len(tests))
	var uploads sync.WaitGroup
	for i, test := range tests {
		uploads.Go(func() { firsts[i] = s.withKey(test.path, "POST", test.path, body) })
		<-held.waiting
		running := s.withKey(test.path, "POST", test.path, body)
		s.compare(test.path+", repeated", running, http.StatusConflict, test.running)
		if got := running.header.Get("Retry-After"); got != "1" {
			t.Errorf("Retry-After is %q", got)
		}
		s.compare(test.path+", with other bytes", s.withKey(test.path, "POST", test.path, strings.Replace(body, "YQ", "Yg", 1)),
			http.StatusUnprocessableEntity, test.reused)
	}
	close(held.release)
	uploads.Wait()
	for i, test := range tests {
		again := s.withKey(test.path, "POST", test.path, body)
		s.compare(test.path+", replayed", again, 200, firsts[i].body)
		if firsts[i].replayed() || !again.replayed() || firsts[i].status != 200 {
			t.Errorf("%s: %+v, then %+v", test.path, firsts[i], again)
		}
	}
	if files := s.storedFiles(); len(files) != len(tests) {
		t.Errorf("files %q", files)
	}
	for _, want := range []string{
		`merchant_orders_uploads_total{result="stored"} 2`,
		`merchant_orders_uploads_total{result="refused"} 4`,
	} {
		if !strings.Contains(metricsText(s), want) {
			t.Errorf("the metrics do not have %s", want)
		}
	}
}

// TestPreconditionFailed checks the 412 of every write in the forms of both versions.
func TestPreconditionFailed(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for path, want := range map[string]string{
		"PUT /api/orders/101":               `{"message":"The order has changed."}`,
		"DELETE /api/orders/101/invoices/1": `{"message":"The order has changed."}`,
		"PATCH /v2/orders/R-1/accept":       `{"error":{"code":"precondition_failed","message":"The order has changed."}}`,
		"DELETE /v2/orders/R-1/invoices/1":  `{"message":"The order has changed."}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		a := s.send(s.merchant, method, path, strings.NewReader(`{"status":"G"}`), http.Header{"If-Match": {`"101-2"`}})
		s.compare(method+" "+path, a, http.StatusPreconditionFailed, want)
	}
	if got := s.state("R-1"); got != order.Registered {
		t.Errorf("the order is %v", got)
	}
}

// brokenRecord is a store with a recorded response that cannot be decoded.
type brokenRecord struct{ order.Store }

func (brokenRecord) InTx(context.Context, func(order.Tx) error) error {
	return &order.ReplayError{Response: []byte("{")}
}

func TestBrokenRecord(t *testing.T) {
	t.Parallel()
	s := start(t, setup{store: func(s order.Store) order.Store { return brokenRecord{s} }})
	s.compare("accept", s.withKey("k", "PATCH", "/v2/orders/R-1/accept", ""), 500,
		`{"error":{"code":"internal","message":"The service failed to answer."}}`)
}

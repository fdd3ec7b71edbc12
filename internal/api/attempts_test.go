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

// under sends a request of the merchant with an Idempotency-Key.
func (s *service) under(key, method, path, body string) answer {
	s.t.Helper()
	return s.send(s.merchant, method, path, strings.NewReader(body), http.Header{"Idempotency-Key": {key}})
}

// again reports whether an answer says that it was given before.
func (a answer) again() bool { return a.header.Get("Idempotent-Replayed") == "true" }

// TestAnswersAreKeptForADay holds answers to the clock.
func TestAnswersAreKeptForADay(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	accept := func() answer { return s.under("k", "PATCH", "/v2/orders/R-1/accept", "") }
	s.compare("the first", accept(), 200, success2)
	s.seconds.Store(24*3600 - 1)
	if a := accept(); a.status != 200 || !a.again() {
		t.Errorf("a second before: %d %s", a.status, a.body)
	}
	if n, err := s.orders.DeleteExpiredIdempotencyRecords(t.Context()); n != 0 || err != nil {
		t.Errorf("forgot %d, error %v", n, err)
	}
	s.seconds.Store(24 * 3600)
	if a := accept(); a.status != 400 || a.again() {
		t.Errorf("a day after: %d %s", a.status, a.body)
	}
	if a := accept(); a.status != 400 || !a.again() {
		t.Errorf("that once more: %d %s", a.status, a.body)
	}
	s.seconds.Store(48 * 3600)
	if n, err := s.orders.DeleteExpiredIdempotencyRecords(t.Context()); n != 1 || err != nil {
		t.Errorf("forgot %d, error %v", n, err)
	}
}

// atTimes is a database that cannot be written while broken is set.
type atTimes struct {
	order.Store
	broken *atomic.Bool
}

func (s atTimes) InTx(ctx context.Context, fn func(order.Tx) error) error {
	if s.broken.Load() {
		return outOfReach{}.InTx(ctx, fn)
	}
	return s.Store.InTx(ctx, fn)
}

// TestFaultsAreNotKept: a fault of the service is not the answer to a request,
// and the next try is made.
func TestFaultsAreNotKept(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	s := start(t, setup{
		store: func(s order.Store) order.Store { return atTimes{s, &broken} },
		files: func(f order.Files) order.Files { return unpublishedAtTimes{f, &broken} },
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
			if a := s.under(key, r.method, r.path, r.body); a.status < 500 || a.again() {
				t.Errorf("%s, broken: %d %s", r.path, a.status, a.body)
			}
		}
		broken.Store(false)
		for i := range 2 {
			if a := s.under(key, r.method, r.path, r.body); a.status != 200 || a.again() != (i == 1) {
				t.Errorf("%s, well again: %d %s, given again %v", r.path, a.status, a.body, a.again())
			}
		}
	}
}

// unpublishedAtTimes are files that cannot be made durable while broken is set.
type unpublishedAtTimes struct {
	order.Files
	broken *atomic.Bool
}

func (f unpublishedAtTimes) Stage(ctx context.Context) (order.StagedFile, error) {
	if f.broken.Load() {
		return unpublished{f.Files}.Stage(ctx)
	}
	return f.Files.Stage(ctx)
}

// heldFiles hold a file back before it is durable.
type heldFiles struct {
	order.Files
	waiting chan struct{} // gets a word when a file waits
	release chan struct{} // closed to let them pass
}

type heldDraft struct {
	order.StagedFile
	files heldFiles
}

func (f heldFiles) Stage(ctx context.Context) (order.StagedFile, error) {
	draft, err := f.Files.Stage(ctx)
	return heldDraft{draft, f}, err
}

func (d heldDraft) Commit(ctx context.Context, path string) error {
	d.files.waiting <- struct{}{}
	<-d.files.release
	return d.StagedFile.Commit(ctx, path)
}

// TestUploadUnderWay repeats an upload while the first is still on its way: it
// is told to wait, in the version's form, and then gets the first one's answer.
// The figures know of one file.
func TestUploadUnderWay(t *testing.T) {
	t.Parallel()
	held := heldFiles{waiting: make(chan struct{}, 9), release: make(chan struct{})}
	s := start(t, setup{files: func(f order.Files) order.Files { held.Files = f; return held }})
	const running, reused = "The first request with this Idempotency-Key is still running.", "The Idempotency-Key was used for another request."
	tests := []struct{ path, running, reused string }{
		{"/api/orders/101/invoices", `{"message":"` + running + `"}`, `{"message":"` + reused + `"}`},
		{
			"/v2/orders/R-2/invoices",
			`{"error":{"code":"idempotency_key_running","message":"` + running + `"}}`,
			`{"error":{"code":"idempotency_key_reused","message":"` + reused + `"}}`,
		},
	}
	const body = `{"filename":"a.pdf","contentBase64":"YQ=="}`
	firsts := make([]answer, len(tests))
	var uploads sync.WaitGroup
	for i, test := range tests {
		uploads.Go(func() { firsts[i] = s.under(test.path, "POST", test.path, body) })
		<-held.waiting
		running := s.under(test.path, "POST", test.path, body)
		s.compare(test.path+", repeated", running, http.StatusConflict, test.running)
		if got := running.header.Get("Retry-After"); got != "1" {
			t.Errorf("Retry-After is %q", got)
		}
		s.compare(test.path+", with other bytes", s.under(test.path, "POST", test.path, strings.Replace(body, "YQ", "Yg", 1)),
			http.StatusUnprocessableEntity, test.reused)
	}
	close(held.release)
	uploads.Wait()
	for i, test := range tests {
		again := s.under(test.path, "POST", test.path, body)
		s.compare(test.path+", given again", again, 200, firsts[i].body)
		if firsts[i].again() || !again.again() || firsts[i].status != 200 {
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
		if !strings.Contains(figures(s), want) {
			t.Errorf("the figures do not have %s", want)
		}
	}
}

// TestChangedForms has the 412 of every change in either version's form.
func TestChangedForms(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for path, want := range map[string]string{
		"PUT /api/orders/101":               `{"message":"The order has changed."}`,
		"DELETE /api/orders/101/invoices/1": `{"message":"The order has changed."}`,
		"PATCH /v2/orders/R-1/accept":       `{"error":{"code":"precondition_failed","message":"The order has changed."}}`,
		"DELETE /v2/orders/R-1/invoices/1":  `{"error":{"code":"precondition_failed","message":"The order has changed."}}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		a := s.send(s.merchant, method, path, strings.NewReader(`{"status":"G"}`), http.Header{"If-Match": {`"101-2"`}})
		s.compare(method+" "+path, a, http.StatusPreconditionFailed, want)
	}
	if got := s.state("R-1"); got != order.Registered {
		t.Errorf("the order is %v", got)
	}
}

// brokenAnswer is a kept answer that nobody can read.
type brokenAnswer struct{ order.Store }

func (brokenAnswer) InTx(context.Context, func(order.Tx) error) error {
	return &order.ReplayError{Response: []byte("{")}
}

// TestUnreadableAnswer is a fault, which tells nothing.
func TestUnreadableAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, setup{store: func(s order.Store) order.Store { return brokenAnswer{s} }})
	s.compare("accept", s.under("k", "PATCH", "/v2/orders/R-1/accept", ""), 500,
		`{"error":{"code":"internal","message":"The service failed to answer."}}`)
}

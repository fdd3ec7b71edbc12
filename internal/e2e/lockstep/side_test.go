package lockstep

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/config"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// baseURL is the address of both services.
const baseURL = "https://orders.example"

// side is one of the two services.
type side struct {
	name     string
	postgres bool
	*apptest.Service
	names *names
	receiver
}

// scope is the test as what belongs to one sequence sees it: its faults are those of the
// sequence, and what is left for the end of the test goes with the sequence.
type scope struct {
	testing.TB
	sequence *rapid.T
}

func (s scope) Cleanup(fn func())                 { s.sequence.Cleanup(fn) }
func (s scope) Errorf(format string, args ...any) { s.sequence.Errorf(format, args...) }
func (s scope) Fatalf(format string, args ...any) { s.sequence.Fatalf(format, args...) }
func (s scope) Fatal(args ...any)                 { s.sequence.Fatal(args...) }
func (s scope) Failed() bool                      { return s.sequence.Failed() }

func (s scope) TempDir() string {
	dir := testenv.Of(os.MkdirTemp("", "lockstep")).Must(s)
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// openSide starts a service that ends with the sequence.
func openSide(t scope, postgres bool) *side {
	s := &side{name: "SQLite and disk", postgres: postgres, names: newNames(), receiver: receiver{moods: map[string]delivery.Result{}}}
	setup := apptest.Setup{
		Settings: config.Config{BaseURL: baseURL}, Flags: config.Serve{DeadlineWarning: "2h"}, Poster: &s.receiver, Mailer: &s.receiver,
	}
	if postgres {
		s.name, setup.Open = "PostgreSQL and S3", onPostgres
	}
	s.Service = apptest.New(t, setup)
	return s
}

// onPostgres opens a database on PostgreSQL and a bucket.
func onPostgres(t testing.TB) (*store.DB, order.Files) {
	t.Helper()
	db := testenv.Of(store.OpenPostgres(t.Context(), pgtest.Database(t), store.Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	name, endpoint := s3test.Bucket(t)
	files := testenv.Of(s3.Open(t.Context(), s3.Bucket{Name: name, Region: s3test.Region, Endpoint: endpoint})).Must(t)
	testenv.NoError(t, files.OpenStaging(filepath.Join(t.TempDir(), "staging")))
	t.Cleanup(func() { _ = files.Close() })
	return db, files
}

// request is a request with names in place of random values.
type request struct {
	method, path, body string
	header             []string // names and values
}

// String returns the request as a failed test shows it.
func (r request) String() string {
	text := r.method + " " + r.path
	for i := 0; i < len(r.header); i += 2 {
		text += "\n" + r.header[i] + ": " + r.header[i+1]
	}
	if r.body != "" {
		text += "\n\n" + r.body
	}
	return text
}

// response is a response in which names stand for random values.
type response struct {
	status int
	header http.Header
	body   string
}

// String returns the response as it is compared.
func (r response) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.status)
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		if name != "Content-Length" { // depends on the length of random values
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(r.header[name], "\n\t"))
		}
	}
	return b.String() + "\n" + r.body
}

// send sends a request.
func (s *side) send(ctx context.Context, r request) response {
	sent := httptest.NewRequestWithContext(ctx, r.method, baseURL+s.names.unmask(r.path), strings.NewReader(s.names.unmask(r.body)))
	for i := 0; i < len(r.header); i += 2 {
		sent.Header.Set(r.header[i], s.names.unmask(r.header[i+1]))
	}
	recorder := httptest.NewRecorder()
	s.Handler.ServeHTTP(recorder, sent)
	got := response{status: recorder.Code, header: recorder.Header(), body: s.names.mask(recorder.Body.String())}
	for _, name := range slices.Sorted(maps.Keys(got.header)) {
		for i, value := range got.header[name] {
			// A kind of value may be known by the name of its header.
			got.header[name][i] = strings.TrimPrefix(s.names.mask(name+": "+value), name+": ")
		}
	}
	return got
}

// receiver is the receiver of all webhooks and e-mails of a service. It records what
// arrives.
type receiver struct {
	mu       sync.Mutex
	moods    map[string]delivery.Result // what URLs and addresses answer; the others acknowledge
	received []received
}

// received is what an endpoint has received. The bytes of a signature are random.
type received struct{ endpoint, text string }

// Post implements webhook.Poster.
func (r *receiver) Post(_ context.Context, m webhook.Message) delivery.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, _, _ := strings.Cut(strings.TrimPrefix(m.ID, "msg_"), "_")
	r.received = append(r.received, received{id + " " + m.URL, fmt.Sprintf("%s %s, %d signatures, %q\n%s",
		m.ID, m.At.UTC().Format(time.RFC3339), len(strings.Fields(m.Signature)), fmt.Sprint(m.Header), bytes.TrimSpace(m.Body))})
	if mood, ok := r.moods[m.URL]; ok {
		return mood
	}
	return delivery.Result{Status: http.StatusNoContent}
}

// Send implements digest.Mailer.
func (r *receiver) Send(_ context.Context, m digest.Mail) delivery.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received = append(r.received, received{m.To, fmt.Sprintf("%v %s %s\n%s\n%s\n%s", m.Key, m.ID, m.At.UTC().Format(time.RFC3339), m.Subject, m.End, m.Body)})
	if mood, ok := r.moods[m.To]; ok {
		return mood
	}
	return delivery.Result{Status: 250}
}

// takeReceived returns what has arrived since the last call, for each endpoint in the order
// of arrival, with names for random values.
func (s *side) takeReceived() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.received, func(a, b received) int { return cmp.Compare(a.endpoint, b.endpoint) })
	var b strings.Builder
	for _, r := range s.received {
		fmt.Fprintf(&b, "to %s: %s\n", r.endpoint, s.names.mask(r.text))
	}
	s.received = nil
	return b.String()
}

// settle waits until the feed of all merchants has every event, and keeps it: other
// transactions of a PostgreSQL server can hold it, such as those of autovacuum.
func (s *side) settle(t scope) {
	if !s.postgres {
		return
	}
	testenv.Eventually(t, "no transaction is in progress", func() bool {
		var settled bool
		testenv.NoError(t, s.DB.SQL().QueryRow(t.Context(), `SELECT pg_snapshot_xmin(pg_current_snapshot()) = pg_snapshot_xmax(pg_current_snapshot())`, nil, &settled))
		return settled
	})
}

// deliver delivers everything that is due.
func (s *side) deliver(t scope) string {
	s.settle(t)
	for s.due(t) {
		ctx, cancel := context.WithCancel(t.Context())
		worker := delivery.NewWorker(delivery.Options{
			Store: s.DB, Senders: map[delivery.Kind]delivery.Sender{webhook.Kind: s.Webhooks, digest.Kind: s.Digests},
			Now: s.Now, Random: func() float64 { return 0.5 }, Log: slog.New(slog.DiscardHandler), Poll: 20 * time.Millisecond,
		})
		var running sync.WaitGroup
		running.Go(func() { worker.Run(ctx) })
		testenv.Eventually(t, "nothing is due", func() bool { return !s.due(t) })
		cancel()
		running.Wait() // also for the rounds in progress
	}
	return s.takeReceived()
}

// due reports whether endpoints have something to be delivered now that no Worker delivers.
func (s *side) due(t scope) bool {
	all := testenv.Of(s.DB.DueEndpoints(t.Context(), nil, s.Now())).Must(t)
	market := testenv.Of(s.DB.DueEndpoints(t.Context(), new(int64(delivery.Marketplace)), s.Now())).Must(t)
	return len(all)+len(market) > 0
}

package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
	"merchantorders/internal/tracing"
	"merchantorders/internal/tracing/tracingtest"
)

func start(t *testing.T, collector *tracingtest.Collector, log *slog.Logger) *tracing.Tracing {
	t.Helper()
	endpoint := testenv.Of(tracing.Endpoint(collector.Environ())).Must(t)
	tracer := testenv.Of(tracing.Start(t.Context(), endpoint, "v1", log)).Must(t)
	return tracer
}

var discard = slog.New(slog.DiscardHandler)

func never(*http.Request) bool { return false }

// serve handles one request with tracing, and returns the spans that were sent.
func serve(t *testing.T, handle func(*tracing.Tracing, context.Context)) []tracingtest.Span {
	t.Helper()
	collector := tracingtest.Start(t)
	tracer := start(t, collector, discard)
	handler := tracer.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { handle(tracer, r.Context()) }), never)
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	testenv.NoError(t, tracer.Stop())
	return collector.Spans()
}

// failing... are parts of the service in which everything fails with an error.
type (
	failingFiles struct {
		order.Files
		err error
	}
	failingDatabase struct {
		sqldb.DB
		err error
	}
)

func (f failingFiles) Remove(context.Context, string) error                   { return f.err }
func (f failingDatabase) Exec(context.Context, string, ...any) (int64, error) { return 0, f.err }

// callAll calls each part once.
func callAll(ctx context.Context, tracer *tracing.Tracing, err error) {
	_, end := tracer.Operation(ctx, "merchants")
	end(err)
	_ = tracer.Files(failingFiles{err: err}).Remove(ctx, "secret")
	_, _ = tracer.Database(failingDatabase{err: err}, "sqlite").Exec(ctx, "UPDATE orders SET state = $1", "secret")
}

// TestFailures checks which errors mark a span as failed, and that no span has the
// text of an error.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err                        error
		operation, storage, dbFail bool
	}{
		{nil, false, false, false},
		{order.ErrNotFound, false, true, true},
		{fmt.Errorf("secret: %w", order.ErrUnavailable), true, true, true},
		{fmt.Errorf("secret: %w", context.DeadlineExceeded), true, true, true},
		{context.Canceled, false, false, false},
		{fs.ErrNotExist, false, false, true},
		{errors.New("secret"), false, true, true},
	} {
		spans := serve(t, func(tracer *tracing.Tracing, ctx context.Context) { callAll(ctx, tracer, test.err) })
		want := map[string]bool{"orders merchants": test.operation, "storage remove": test.storage, "UPDATE orders": test.dbFail, "request": false}
		for _, span := range spans {
			if failed, known := want[span.Name]; !known || failed != span.Failed {
				t.Errorf("%v: span %s failed %v", test.err, span.Name, span.Failed)
			}
			testenv.Lacks(t, "span", span.Text, "secret")
		}
		testenv.Equal(t, fmt.Sprintf("%v: spans", test.err), len(want), len(spans))
	}
}

// oneRow is a database with one row.
type oneRow struct{ sqldb.DB }

func (oneRow) Query(_ context.Context, _ string, _ []any, scan func(sqldb.Rows) error) error {
	return scan(nil)
}

func (oneRow) QueryMany(_ context.Context, _ iter.Seq2[string, []any], scan func(int, sqldb.Rows) error) error {
	return scan(0, nil)
}

// TestEndOfReading checks that queries of which the caller reads no more rows have not failed.
func TestEndOfReading(t *testing.T) {
	t.Parallel()
	end := errors.New("enough")
	spans := serve(t, func(tracer *tracing.Tracing, ctx context.Context) {
		db := tracer.Database(oneRow{}, "sqlite")
		testenv.Equal(t, "error", end, db.Query(ctx, "SELECT 1 FROM orders", nil, func(sqldb.Rows) error { return end }))
		testenv.Equal(t, "error of several queries", end, db.QueryMany(ctx, nil, func(int, sqldb.Rows) error { return end }))
	})
	testenv.Equal(t, "spans", 3, len(spans))
	for _, span := range spans {
		testenv.Equal(t, "failed "+span.Name, false, span.Failed)
	}
}

// TestOutsideOfRequests checks that background work sends no spans.
func TestOutsideOfRequests(t *testing.T) {
	t.Parallel()
	collector := tracingtest.Start(t)
	tracer := start(t, collector, discard)
	callAll(t.Context(), tracer, errors.New("on purpose"))
	testenv.NoError(t, tracer.Stop())
	if spans := collector.Spans(); len(spans) > 0 {
		t.Errorf("spans %+v", spans)
	}
}

// TestTransport checks that a request of a client carries the ids of its span, and
// that one outside of a request carries none.
func TestTransport(t *testing.T) {
	t.Parallel()
	var got []string
	next := roundTrip(func(r *http.Request) { got = append(got, r.Header.Get("Traceparent")) })
	request := httptest.NewRequest("GET", "http://s3/", nil)
	spans := serve(t, func(tracer *tracing.Tracing, ctx context.Context) {
		for _, ctx := range []context.Context{ctx, context.Background()} {
			response, err := tracer.Transport(next).RoundTrip(request.WithContext(ctx))
			testenv.NoError(t, err)
			_ = response.Body.Close()
		}
	})
	want := []string{"00-" + spans[0].Trace + "-" + spans[0].ID + "-01", ""}
	if !slices.Equal(got, want) || len(request.Header) > 0 {
		t.Errorf("traceparent %q, want %q; the request has %v", got, want, request.Header)
	}
}

type roundTrip func(*http.Request)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	f(r)
	return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
}

// TestPoster checks that a delivery to a webhook has a span without its address, also
// outside of a request, and that the receiver gets the ids of the span.
func TestPoster(t *testing.T) {
	t.Parallel()
	var got []string
	next := post(func(m webhook.Message) delivery.Result {
		got = append(got, m.Header.Get("Traceparent"))
		return delivery.Result{Status: 503, Error: delivery.ErrorStatus}
	})
	spans := serve(t, func(tracer *tracing.Tracing, _ context.Context) {
		tracer.Poster(next).Post(context.Background(), webhook.Message{URL: "https://secret.example/secret"})
	})
	for _, span := range spans {
		if span.Name != "webhook delivery" {
			continue
		}
		testenv.Equal(t, "traceparent", []string{"00-" + span.Trace + "-" + span.ID + "-01"}, got)
		if !span.Failed || span.Attributes["http.response.status_code"] != "int_value:503" || strings.Contains(span.Text, "secret") {
			t.Errorf("span %+v", span)
		}
		return
	}
	t.Errorf("no span of a delivery in %+v", spans)
}

type post func(webhook.Message) delivery.Result

func (f post) Post(_ context.Context, m webhook.Message) delivery.Result { return f(m) }

// TestSending checks that a busy collector is asked again, and that lost spans are
// logged.
func TestSending(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		statuses []int
		sent     int
		logged   string
	}{
		"busy":    {[]int{503, 200}, 2, ""},
		"refused": {[]int{400}, 1, "400 Bad Request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			collector := tracingtest.Start(t)
			collector.Status = func() int { return test.statuses[min(int(sent.Add(1)), len(test.statuses))-1] }
			var log bytes.Buffer
			tracer := start(t, collector, slog.New(slog.NewTextHandler(&log, nil)))
			tracer.Handler(http.NotFoundHandler(), never).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
			testenv.NoError(t, tracer.Stop())
			if int(sent.Load()) != test.sent || strings.Contains(log.String(), "spans") != (test.logged != "") || !strings.Contains(log.String(), test.logged) {
				t.Errorf("sent %d times, want %d; log %s", sent.Load(), test.sent, log.String())
			}
		})
	}
}

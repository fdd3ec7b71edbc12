package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/testenv"
)

// failing responds to the first n requests with a status, then with success.
func failing(n int, status int, good string, header ...string) http.HandlerFunc {
	var count atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if count.Add(1) > int64(n) {
			response(w, 200, good)
			return
		}
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		response(w, status, flat("Not now."))
	}
}

// TestRetries checks which errors are retried.
func TestRetries(t *testing.T) {
	t.Parallel()
	for status, again := range map[int]bool{
		408: true, 429: true, 500: true, 502: true, 503: true, 504: true,
		400: false, 401: false, 403: false, 404: false, 405: false, 412: false, 413: false, 422: false, 301: false,
	} {
		for _, call := range calls {
			t.Run(call.name+" "+strconv.Itoa(status), func(t *testing.T) {
				t.Parallel()
				f := newFake(t, failing(2, status, call.good))
				err := call.do(t.Context(), f.client)
				testenv.Equal(t, fmt.Sprintf("error %v", err), again, err == nil)
				testenv.Equal(t, "requests", map[bool]int{true: 3, false: 1}[again], len(f.requests()))

				f = newFake(t, failing(2, status, call.good), client.WithoutWriteRetries())
				testenv.Equal(t, "without retries of writes", again && !call.write, call.do(t.Context(), f.client) == nil)
			})
		}
	}
}

// TestCertificate calls a service whose certificate nobody trusts, once.
func TestCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(always(200, goodSuccess))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	err := testenv.Of(client.New(server.URL, secret)).Must(t).Accept(t.Context(), "SF-1")
	if e := wantKind(t, err, client.ErrTransport); e.Tries != 1 || e.Temporary() || !strings.Contains(e.Error(), "certificate") {
		t.Errorf("%d attempts, %v", e.Tries, e)
	}
}

// TestInProgress checks that the client waits for a first attempt in progress.
func TestInProgress(t *testing.T) {
	t.Parallel()
	f := newFake(t, failing(3, 409, goodSuccess, "Retry-After", "1"))
	testenv.NoError(t, f.client.Accept(t.Context(), "SF-1"))
	testenv.Equal(t, "waits", []time.Duration{time.Second, time.Second, time.Second}, f.waited())
}

func TestWaits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	ms := func(n ...int) []time.Duration {
		var all []time.Duration
		for _, d := range n {
			all = append(all, time.Duration(d)*time.Millisecond)
		}
		return all
	}
	for _, test := range []struct {
		name       string
		retryAfter string
		options    []client.Option
		waits      []time.Duration // half of them are left to chance otherwise
		asked      time.Duration
	}{
		{"grow", "", nil, ms(125, 250, 500, 1000), 0},
		{"up to a limit", "", []client.Option{client.WithMaxWait(300 * time.Millisecond)}, ms(125, 150, 150, 150), 0},
		{"hardly at all", "", []client.Option{client.WithMaxWait(0), client.WithTries(2)}, []time.Duration{time.Millisecond / 2}, 0},
		{"never", "", []client.Option{client.WithTries(1)}, nil, 0},
		{"Retry-After", "7", nil, ms(7000, 7000, 7000, 7000), 7 * time.Second},
		{"until a date", now.Add(3 * time.Second).Format(http.TimeFormat), []client.Option{client.WithTries(2)}, ms(3000), 3 * time.Second},
		{"a date gone by", now.Add(-time.Hour).Format(http.TimeFormat), []client.Option{client.WithTries(2)}, ms(125), 0},
		{"the longest", "60", []client.Option{client.WithTries(2)}, ms(60000), time.Minute},
		{"longer than that", "61", nil, nil, 61 * time.Second},
		{"nonsense", "soon", []client.Option{client.WithTries(2)}, ms(125), 0},
		{"below zero", "-5", []client.Option{client.WithTries(2)}, ms(125), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			options := append([]client.Option{client.WithNow(func() time.Time { return now })}, test.options...)
			f := newFake(t, failing(100, 503, "", "Retry-After", test.retryAfter), options...)
			_, err := f.client.Order(t.Context(), "SF-1")
			e := wantKind(t, err, client.ErrUnavailable)
			testenv.Equal(t, "waits", test.waits, f.waited())
			if e.RetryAfter != test.asked || e.Tries != len(test.waits)+1 {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestKeys checks that all attempts of a write have one key and one request id, and
// that every write has another key.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, call := range calls {
		f := newFake(t, failing(2, 503, call.good))
		testenv.NoError(t, call.do(t.Context(), f.client))
		testenv.NoError(t, call.do(t.Context(), f.client))
		var keys, ids []string
		for _, r := range f.requests() {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			ids = append(ids, r.Header.Get("X-Request-Id"))
		}
		if len(keys) != 4 || keys[0] != keys[1] || keys[1] != keys[2] || ids[0] != ids[2] || ids[2] == ids[3] {
			t.Errorf("%s: keys %q, ids %q", call.name, keys, ids)
		}
		if call.write && (len(keys[0]) < 20 || keys[2] == keys[3]) || !call.write && keys[0] != "" {
			t.Errorf("%s: keys %q", call.name, keys)
		}
	}
}

func TestWriteOptions(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `W/"915664-18"`) // of a proxy
		w.Header().Set("Idempotent-Replayed", "true")
		w.Header().Set("X-Request-Id", "r-1")
		response(w, 200, goodSuccess)
	})
	var receipt client.Receipt
	testenv.NoError(t, f.client.Accept(t.Context(), "SF-1", client.IfMatch(`"915664-17"`), client.IdempotencyKey("my key"), client.ReceiptTo(&receipt)))
	header := f.requests()[0].Header
	if header.Get("If-Match") != `"915664-17"` || header.Get("Idempotency-Key") != "my key" {
		t.Errorf("header %v", header)
	}
	testenv.Equal(t, "receipt", client.Receipt{Tag: `"915664-18"`, Key: "my key", Replayed: true, RequestID: "r-1"}, receipt)

	once := f.newClient(t, client.WithoutWriteRetries())
	testenv.NoError(t, once.Accept(t.Context(), "SF-1"))
	testenv.NoError(t, once.Accept(t.Context(), "SF-1", client.IdempotencyKey("mine")))
	requests := f.requests()
	if a, b := requests[1].Header.Get("Idempotency-Key"), requests[2].Header.Get("Idempotency-Key"); a != "" || b != "mine" {
		t.Errorf("without retries of writes: keys %q and %q", a, b)
	}
}

// TestContextEnds ends the context before the call, during an attempt and during a
// wait, and sets a deadline that is too early for a wait.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	errWhy := errors.New("had enough")
	for _, call := range calls {
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errWhy)
		f := newFake(t, failing(100, 503, ""))
		e := wantKind(t, call.do(ended, f.client), nil)
		if !errors.Is(e, context.Canceled) || !errors.Is(e, errWhy) || len(f.requests()) != 0 {
			t.Errorf("%s, ended before: %v", call.name, e)
		}

		during, cancelDuring := context.WithCancel(t.Context())
		f = newFake(t, func(w http.ResponseWriter, r *http.Request) {
			// The server detects the end of the connection after it has read the body.
			_, _ = io.Copy(io.Discard, r.Body)
			cancelDuring()
			<-r.Context().Done()
		})
		e = wantKind(t, call.do(during, f.client), nil)
		if !errors.Is(e, context.Canceled) || e.Tries != 1 || e.RequestID == "" {
			t.Errorf("%s, ended during a try: %+v", call.name, e)
		}

		waiting, cancelWaiting := context.WithCancel(t.Context())
		f = newFake(t, failing(100, 503, ""), client.WithSleep(func(ctx context.Context, _ time.Duration) error {
			cancelWaiting()
			return ctx.Err()
		}))
		e = wantKind(t, call.do(waiting, f.client), client.ErrUnavailable)
		if !errors.Is(e, context.Canceled) || e.Tries != 1 {
			t.Errorf("%s, ended during a wait: %+v", call.name, e)
		}

		short, cancelShort := context.WithTimeout(t.Context(), time.Minute)
		f = newFake(t, failing(100, 429, "", "Retry-After", "60"), client.WithNow(func() time.Time { return time.Now().Add(time.Second) }))
		e = wantKind(t, call.do(short, f.client), client.ErrRateLimited)
		if e.RetryAfter != time.Minute || e.Tries != 1 || len(f.waited()) != 0 {
			t.Errorf("%s, too short: %+v", call.name, e)
		}
		cancelShort()
	}
}

// TestRealSleep checks that the context ends a wait.
func TestRealSleep(t *testing.T) {
	t.Parallel()
	f := newFake(t, failing(1, 503, goodOrder))
	c := testenv.Of(client.New(f.URL, secret)).Must(t)
	testenv.Of(c.Order(t.Context(), "SF-1")).Must(t)
}

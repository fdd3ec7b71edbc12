package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web/ratelimit"
)

// FaultHeader requests a fault of a sandbox.
const FaultHeader = "X-Sandbox-Fault"

// slowFault is how long a slow response is held back. The time-outs of clients are
// longer.
const slowFault = 5 * time.Second

// errFault is the error of a response that the request asked for.
var errFault = fmt.Errorf("the request asked for a fault: %w", order.ErrUnavailable)

// errTooManyFault is the same for a client that is too fast.
var errTooManyFault = fmt.Errorf("the request asked for a fault: %w", &ratelimit.Error{Limit: ratelimit.Rate})

// WithFaults wraps the handler of a sandbox. A request chooses its fault with
// FaultHeader:
//   - slow: the response is held back for some seconds,
//   - 429: there are too many requests, nothing is done,
//   - 503: the service is unavailable, nothing is done,
//   - reset: the connection is closed, nothing is done,
//   - lost: the request is served, then the connection is closed without a response.
//
// Elsewhere the header has no effect. wait returns after a time or when ctx ends.
func WithFaults(next http.Handler, encode ErrorEncoder, wait func(ctx context.Context, d time.Duration)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch fault := r.Header.Get(FaultHeader); fault {
		case "":
			next.ServeHTTP(w, r)
		case "slow":
			wait(r.Context(), slowFault)
			next.ServeHTTP(w, r)
		case "503":
			writeError(w, r, encode, errFault)
		case "429":
			writeError(w, r, encode, errTooManyFault)
		case "reset":
			panic(http.ErrAbortHandler)
		case "lost":
			next.ServeHTTP(discardWriter{w, make(http.Header)}, r)
			panic(http.ErrAbortHandler)
		default:
			writeError(w, r, encode, &strict.ParamError{Name: FaultHeader, Problem: "must be slow, 429, 503, reset or lost"})
		}
	})
}

// discardWriter discards a response. Its deadlines are those of the connection.
type discardWriter struct {
	connection http.ResponseWriter
	header     http.Header
}

// Header implements http.ResponseWriter.
func (w discardWriter) Header() http.Header { return w.header }

// Write implements http.ResponseWriter.
func (w discardWriter) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (w discardWriter) WriteHeader(int) {}

// Unwrap lets http.ResponseController reach the connection.
func (w discardWriter) Unwrap() http.ResponseWriter { return w.connection }

// Flush implements http.Flusher: it would send the header of the connection's response.
func (w discardWriter) Flush() {}

package web

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
)

// requestIDHeader carries the id of a request in both directions.
const requestIDHeader = "X-Request-Id"

// unmatchedRoute is the route in log and metrics of a path that has none. The path
// itself would let anybody create new values.
const unmatchedRoute = "unmatched"

// statusClientClosedRequest is the status in log and metrics of a request whose
// client disconnected before the response. No client ever sees it.
const statusClientClosedRequest = 499

// errPanic is the error of a request whose handler panicked.
var errPanic = errors.New("a handler panicked")

// errAborted is the error of a response that the handler began and then aborted.
var errAborted = errors.New("the response was aborted")

// requestLogEntry is what the log shows of a request. It holds no personal data,
// tokens, paths or queries. Nothing is decided by it: who sends the request is
// Request.Caller.
type requestLogEntry struct {
	id        string
	route     string // pattern
	class     metrics.Class
	caller    order.Caller // zero if nobody was authenticated
	deadToken int64        // id of the token that was refused, if it is known
	order     string       // reference of the order that the request has changed
	orderID   int64        // its legacy id
	err       error        // why the response is a 5xx or was not sent
	detail    string       // of a response 4xx; empty: none
}

type logEntryKey struct{}

// logEntryOf returns the log entry of a request; one that is not logged if Observe gave
// it none.
func logEntryOf(r *http.Request) *requestLogEntry {
	if entry, ok := r.Context().Value(logEntryKey{}).(*requestLogEntry); ok {
		return entry
	}
	return &requestLogEntry{}
}

// RequestLog is where and how requests are logged.
type RequestLog struct {
	*slog.Logger
	// NoAddresses leaves out the addresses of clients whose request was refused with
	// 401 or 403.
	NoAddresses bool
	// Proxies are those that tell the address of the client.
	Proxies TrustedProxies
	// Finished is called with the context of each request after its response; nil: not
	// called. method and route come from bounded sets.
	Finished func(ctx context.Context, method, route string, status int)
}

// Observe wraps a handler. Each request gets an id, one log entry and its metrics.
// A panic becomes the response that encode gives for an error, or an aborted
// connection if the response had begun.
func Observe(next http.Handler, encode ErrorEncoder, log RequestLog, counts *metrics.Metrics, now func() time.Time) http.Handler {
	counts.KnowErrors(errorKindNames()...)
	next = compressed(refusingOverload(next, encode))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := now()
		entry := &requestLogEntry{id: requestID(r), route: unmatchedRoute, class: metrics.Other}
		r = r.WithContext(context.WithValue(r.Context(), logEntryKey{}, entry))
		w.Header().Set(requestIDHeader, entry.id)
		recorder := &responseRecorder{ResponseWriter: w}
		defer func() {
			p := recover()
			if err, _ := p.(error); p != nil && !errors.Is(err, http.ErrAbortHandler) {
				log.ErrorContext(r.Context(), "panic", "request", entry.id, "route", entry.route, "panic", p, "stack", string(debug.Stack()))
				entry.err = errPanic
				if recorder.status == 0 {
					writeError(recorder, r, encode, errPanic)
					p = nil
				}
			}
			if p != nil {
				if entry.err == nil {
					entry.err = errAborted
				}
				// Deferred, so that it comes last: net/http then closes the connection.
				defer panic(http.ErrAbortHandler)
			}
			took, status, method := now().Sub(start), recorder.finalStatus(r, p != nil), knownMethod(r.Method)
			counts.Request(entry.route, entry.class, method, status, took)
			if entry.err != nil {
				counts.Failed(errorKind(entry.err, status))
			}
			if r.Method == http.MethodHead {
				recorder.bytes = 0 // the handler wrote them, net/http did not send them
			}
			var client netip.Addr
			if !log.NoAddresses && (status == http.StatusUnauthorized || status == http.StatusForbidden) {
				client = log.Proxies.Client(r)
			}
			if log.Finished != nil {
				log.Finished(r.Context(), method, entry.route, status)
			}
			entry.detail = w.Header().Get(DetailHeader)
			logRequest(r.Context(), log.Logger, entry, method, status, recorder.bytes, took, client)
		}()
		next.ServeHTTP(recorder, r)
	})
}

// refusingOverload returns a handler that serves no request beyond a limit of the whole
// server.
func refusingOverload(next http.Handler, encode ErrorEncoder) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isOverloaded(r) {
			logEntryOf(r).class = classOf(r.Method)
			writeError(w, r, encode, ErrOverloaded)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// logRequest writes the log entry of a request. client is the address of the client;
// the zero address is not logged.
func logRequest(ctx context.Context, log *slog.Logger, entry *requestLogEntry, method string, status int, bytes int64, took time.Duration, client netip.Addr) {
	attrs := append(make([]slog.Attr, 0, 13), // room for all
		slog.String("request", entry.id),
		slog.String("method", method),
		slog.String("route", entry.route),
		slog.Int("status", status),
		slog.Int64("bytes", bytes),
		slog.Float64("ms", float64(took.Microseconds())/1000),
	)
	if entry.caller.TokenID != 0 {
		attrs = append(attrs, slog.Int64("merchant", entry.caller.MerchantID), slog.Int64("token", entry.caller.TokenID))
	} else if entry.deadToken != 0 {
		attrs = append(attrs, slog.Int64("token", entry.deadToken))
	}
	if client.IsValid() {
		attrs = append(attrs, slog.String("client", client.String()))
	}
	if entry.order != "" {
		attrs = append(attrs, slog.String("order", entry.order), slog.Int64("order_id", entry.orderID))
	}
	if entry.detail != "" {
		attrs = append(attrs, slog.String("detail", entry.detail))
	}
	if entry.err != nil {
		attrs = append(attrs, slog.String("error", entry.err.Error()))
	}
	log.LogAttrs(ctx, logLevel(entry, status), "request", attrs...)
}

// logLevel returns the level of the log entry of a request. Probes and scrapes that succeed
// are too many to be of interest.
func logLevel(entry *requestLogEntry, status int) slog.Level {
	failed := entry.err != nil && !errors.Is(entry.err, ErrStopping) // unlike probes of a server that stops as planned
	switch {
	case failed && status == statusClientClosedRequest:
		return slog.LevelWarn
	case failed:
		return slog.LevelError
	case entry.class == metrics.Monitoring:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// maxRequestID is the length of the longest request id, in bytes, that is taken
// from a client.
const maxRequestID = 64

// requestID returns the id that the client sent, or a new one if that is not plain
// text or looks like a token in the wrong header.
func requestID(r *http.Request) string {
	id := r.Header.Get(requestIDHeader)
	if id == "" || len(id) > maxRequestID ||
		strings.Contains(id, token.MerchantPrefix) || strings.Contains(id, token.OperatorPrefix) {
		return newRequestID()
	}
	for _, c := range []byte(id) {
		plain := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '_' || c == '.'
		if !plain {
			return newRequestID()
		}
	}
	return id
}

// newRequestID returns 128 random bits in base 36. The id is not a secret, so the
// faster random source is enough.
func newRequestID() string {
	id := make([]byte, 0, 26)
	id = strconv.AppendUint(id, rand.Uint64(), 36)
	return string(strconv.AppendUint(id, rand.Uint64(), 36))
}

// knownMethod returns "other" for a method that is not in common use, so that a
// client cannot create new values in log and metrics.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// responseRecorder records the status and the size of a response.
type responseRecorder struct {
	http.ResponseWriter
	status int // 0: the response has not begun
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (w *responseRecorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *responseRecorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// finalStatus returns the status for log and metrics. It is 0 if the connection
// was aborted before the response began.
func (w *responseRecorder) finalStatus(r *http.Request, aborted bool) int {
	if r.Context().Err() != nil && (w.status == 0 || w.status >= http.StatusInternalServerError) {
		return statusClientClosedRequest
	}
	if w.status == 0 && !aborted {
		return http.StatusOK // which net/http sends if a handler writes nothing
	}
	return w.status
}

// FlushError implements the interface that http.ResponseController looks for.
func (w *responseRecorder) FlushError() error {
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush implements http.Flusher, which gzhttp looks for.
func (w *responseRecorder) Flush() { _ = w.FlushError() }

// Unwrap lets http.ResponseController reach the connection.
func (w *responseRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

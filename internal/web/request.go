package web

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/token"
)

// requestIDHeader carries the id of a request in both directions.
const requestIDHeader = "X-Request-Id"

// unmatchedRoute stands in log and figures for every path that is not served,
// so that strangers cannot make up new ones.
const unmatchedRoute = "unmatched"

// record is what one request leaves in the log: a single line, without
// personal data, tokens, paths or queries.
type requestLogEntry struct {
	id    string
	route string      // pattern, not path
	grant token.Grant // zero before the token is looked at
	fault error       // why an answer is a 5xx, or could not be sent
}

type logEntryKey struct{}

func logEntryOf(r *http.Request) *requestLogEntry {
	if rec, ok := r.Context().Value(logEntryKey{}).(*requestLogEntry); ok {
		return rec
	}
	return &requestLogEntry{}
}

// withRecord returns the request with a record, where nobody observes it.
func withLogEntry(r *http.Request) *http.Request {
	if r.Context().Value(logEntryKey{}) != nil {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), logEntryKey{}, &requestLogEntry{}))
}

// RoutePattern returns the pattern of the route that a request was sent to.
func RoutePattern(r *http.Request) string { return logEntryOf(r).route }

func setRoute(r *http.Request, pattern string) { logEntryOf(r).route = pattern }

func setGrant(r *http.Request, grant token.Grant) { logEntryOf(r).grant = grant }

func setRequestError(r *http.Request, err error) { logEntryOf(r).fault = err }

// RequestID returns the id under which the log knows a request.
func RequestID(r *http.Request) string { return logEntryOf(r).id }

// statusGone stands in log and figures for a fault that only came of the
// connection's end: nobody was left to read the answer.
const statusClientClosedRequest = 499

// errCut says that a handler gave up an answer that it had begun.
var errResponseAborted = errors.New("the answer was cut off")

// Observe wraps a handler so that each request has an id, in the answer and in
// the log, leaves one log line and one set of figures, and a panic becomes the
// error answer that form gives, or a cut connection where an answer had begun.
func Observe(next http.Handler, form ErrorEncoder, log *slog.Logger, figures *Metrics, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := now()
		rec := &requestLogEntry{id: requestID(r), route: unmatchedRoute}
		r = r.WithContext(context.WithValue(r.Context(), logEntryKey{}, rec))
		w.Header().Set(requestIDHeader, rec.id)
		watched := &responseRecorder{ResponseWriter: w}
		defer func() {
			p := recover()
			if p != nil && p != http.ErrAbortHandler {
				log.Error("panic", "request", rec.id, "route", rec.route, "panic", p, "stack", string(debug.Stack()))
				rec.fault = errPanic
				if watched.status == 0 {
					writeError(watched, r, form, errPanic)
					p = nil
				}
			}
			if p != nil {
				if rec.fault == nil {
					rec.fault = errResponseAborted
				}
				// Last, and once more: net/http cuts the connection then.
				defer panic(http.ErrAbortHandler)
			}
			line := logLine{
				at: now(), id: rec.id, method: knownMethod(r.Method), route: rec.route,
				status: watched.final(r, p != nil), bytes: watched.bytes,
				merchant: rec.grant.MerchantID, token: rec.grant.ID,
			}
			line.took = line.at.Sub(start)
			if r.Method == http.MethodHead {
				line.bytes = 0 // written by the handler, but never sent
			}
			figures.observe(line.route, line.method, line.status, line.took)
			logRequest(log, &line, rec.fault)
		}()
		serveCompressed(next, watched, r)
	})
}

// logRequest leaves a request's line, with the fault where there is one.
func logRequest(log *slog.Logger, line *logLine, fault error) {
	ctx := context.Background() // nothing of it is shown
	if fault == nil {
		if !log.Enabled(ctx, slog.LevelInfo) {
			return
		}
		if handler, ok := log.Handler().(*LogHandler); ok {
			line.write(handler.out)
			return
		}
		log.LogAttrs(ctx, slog.LevelInfo, "request", line.attrs()...)
		return
	}
	level := slog.LevelError
	if line.status == statusClientClosedRequest {
		level = slog.LevelWarn
	}
	log.LogAttrs(ctx, level, "request", append(line.attrs(), slog.String("error", fault.Error()))...)
}

// maxRequestID is the longest id, in bytes, that is taken from a client.
const maxRequestID = 64

// requestID returns the id that the client sent, where it is a plain one, or a
// new one. What looks like a token, put into the wrong header, is never shown.
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

// newRequestID returns 128 random bits as digits and small letters. They tell
// requests apart, and are no secret: those for secrets take ten times as long.
func newRequestID() string {
	id := make([]byte, 0, 26)
	id = strconv.AppendUint(id, rand.Uint64(), 36)
	return string(strconv.AppendUint(id, rand.Uint64(), 36))
}

// knownMethod keeps made-up methods out of log and figures.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// watchedWriter remembers what was answered.
type responseRecorder struct {
	http.ResponseWriter
	status int // 0: nothing yet
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (w *responseRecorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		setVary(w.Header(), status)
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

// final returns the status for log and figures: 0 for an answer cut off before
// it began.
func (w *responseRecorder) final(r *http.Request, cut bool) int {
	if r.Context().Err() != nil && (w.status == 0 || w.status >= http.StatusInternalServerError) {
		return statusClientClosedRequest
	}
	if w.status == 0 && !cut {
		return http.StatusOK // as net/http answers for a handler that writes nothing
	}
	return w.status
}

// Unwrap lets http.ResponseController reach the connection.
func (w *responseRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

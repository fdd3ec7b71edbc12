package openapitest

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// maxBody is the largest request body, in bytes, that is checked.
const maxBody = 9 << 20

// maxReported is how many violations a test reports.
const maxReported = 20

// report collects violations and reports them when the test ends.
type report struct {
	mu         sync.Mutex
	violations map[string]int // how often each occurred
	order      []string
}

// newReport returns a report that fails the test at its end if there were violations.
// Cleanups registered later run earlier, so they can still add some.
func newReport(t testing.TB) *report {
	r := &report{violations: make(map[string]int)}
	t.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for i, fault := range r.order {
			if i == maxReported {
				t.Errorf("and %d more", len(r.order)-i)
				break
			}
			t.Errorf("the OpenAPI document does not describe this: %s (%d times)", fault, r.violations[fault])
		}
	})
	return r
}

func (r *report) add(violations []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, fault := range violations {
		if r.violations[fault] == 0 {
			r.order = append(r.order, fault)
		}
		r.violations[fault]++
	}
}

// CheckHandler returns a wrapper for handlers. It fails the test at its end if a request
// or a response was not as the published documents describe it. Call it before the
// cleanup that stops the server is registered.
func CheckHandler(t testing.TB) func(http.Handler) http.Handler {
	contract, r := Published(), newReport(t)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			if isConsole(request.URL.Path) {
				next.ServeHTTP(w, request)
				return
			}
			e, body, response := newExchange(request), &requestRecorder{}, &responseRecorder{ResponseWriter: w}
			checked := *request
			if request.Body != nil && request.Body != http.NoBody {
				body.ReadCloser = request.Body
				checked.Body = body
			}
			// A handler that panics sends no response to check.
			next.ServeHTTP(response, &checked)
			e.RequestBody, e.BodyIncomplete = body.read.Bytes(), body.truncated
			e.Status, e.Header, e.Body = response.recorded()
			r.add(contract.Violations(e))
		})
	}
}

// isConsole reports whether a path is one of the console. Its pages are for people, so
// no document describes them.
func isConsole(path string) bool {
	return path == "/" || path == "/console" || strings.HasPrefix(path, "/console/")
}

func newExchange(request *http.Request) Exchange {
	return Exchange{
		Method: request.Method, Path: request.URL.EscapedPath(), Query: request.URL.RawQuery,
		RequestHeader: request.Header.Clone(),
	}
}

// requestRecorder records what a handler reads of a request's body.
type requestRecorder struct {
	io.ReadCloser
	read      bytes.Buffer
	truncated bool // the handler read more
}

// Read implements io.Reader.
func (b *requestRecorder) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.read.Len()+n > maxBody {
		b.truncated = true
	} else {
		b.read.Write(p[:n])
	}
	return n, err
}

// responseRecorder records a response, of lines the first ones, and of other bodies than
// JSON only the header.
type responseRecorder struct {
	http.ResponseWriter
	status int
	header http.Header
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (w *responseRecorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status, w.header = status, w.Header().Clone()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *responseRecorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	mediaType, _, _ := mime.ParseMediaType(w.header.Get("Content-Type"))
	if mediaType == "application/json" || mediaType == jsonLines && w.body.Len() < maxBody {
		w.body.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *responseRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *responseRecorder) recorded() (int, http.Header, []byte) {
	if w.status == 0 {
		w.status, w.header = http.StatusOK, w.Header().Clone()
	}
	return w.status, w.header, w.plain()
}

// plain returns the body, decompressed if it is gzip, as far as it was recorded.
func (w *responseRecorder) plain() []byte {
	if w.header.Get("Content-Encoding") != "gzip" {
		return w.body.Bytes()
	}
	decompressor, err := gzip.NewReader(&w.body)
	if err != nil {
		return w.body.Bytes()
	}
	plain, _ := io.ReadAll(decompressor) // JSON that is cut is not valid
	return plain
}

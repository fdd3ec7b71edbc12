package openapitest

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"sync"
	"testing"
)

// maxKept is the largest request body, in bytes, that is looked at: more than
// any that the service takes.
const maxKept = 9 << 20

// maxShown is how many faults a test shows.
const maxShown = 20

// report collects faults and shows them when the test has ended.
type report struct {
	mu     sync.Mutex
	faults map[string]int // how often each was seen
	order  []string
}

// newReport makes a test fail at its end if there were faults. What is set up
// after it and cleaned up before it may still report.
func newReport(t testing.TB) *report {
	r := &report{faults: make(map[string]int)}
	t.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for i, fault := range r.order {
			if i == maxShown {
				t.Errorf("and %d more that the documents do not describe", len(r.order)-i)
				break
			}
			t.Errorf("not as the OpenAPI document describes it: %s (%d times)", fault, r.faults[fault])
		}
	})
	return r
}

func (r *report) add(faults []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, fault := range faults {
		if r.faults[fault] == 0 {
			r.order = append(r.order, fault)
		}
		r.faults[fault]++
	}
}

// Watch returns a wrapper for handlers that makes the test fail at its end if
// anything went over the wire that the published documents do not describe.
// It is called before whatever ends the server is handed to t.Cleanup.
func Watch(t testing.TB) func(http.Handler) http.Handler {
	contract, r := Published(), newReport(t)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			e, body, answer := newExchange(request), &sentBody{}, &answerWriter{ResponseWriter: w}
			watched := *request
			if request.Body != nil && request.Body != http.NoBody {
				body.ReadCloser = request.Body
				watched.Body = body
			}
			// An answer that is cut off by a panic is none.
			next.ServeHTTP(answer, &watched)
			e.RequestBody, e.BodyUnknown = body.kept.Bytes(), body.more
			e.Status, e.Header, e.Body = answer.seen()
			r.add(contract.Faults(e))
		})
	}
}

func newExchange(request *http.Request) Exchange {
	return Exchange{
		Method: request.Method, Path: request.URL.EscapedPath(), Query: request.URL.RawQuery,
		RequestHeader: request.Header.Clone(),
	}
}

// sentBody keeps what a handler reads of a request's body.
type sentBody struct {
	io.ReadCloser
	kept bytes.Buffer
	more bool // there was more than is kept
}

// Read implements io.Reader.
func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.kept.Len()+n > maxKept {
		b.more = true
	} else {
		b.kept.Write(p[:n])
	}
	return n, err
}

// answerWriter keeps an answer as the handler wrote it; of a body only JSON.
type answerWriter struct {
	http.ResponseWriter
	status int
	header http.Header
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (w *answerWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status, w.header = status, w.Header().Clone()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *answerWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	mediaType, _, _ := mime.ParseMediaType(w.header.Get("Content-Type"))
	if mediaType == "application/json" {
		w.body.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *answerWriter) seen() (int, http.Header, []byte) {
	if w.status == 0 {
		w.status, w.header = http.StatusOK, w.Header().Clone()
	}
	return w.status, w.header, w.plain()
}

// plain is the body as it was before it was compressed. One that cannot be read
// is as it is: no JSON.
func (w *answerWriter) plain() []byte {
	if w.header.Get("Content-Encoding") != "gzip" {
		return w.body.Bytes()
	}
	unpacking, err := gzip.NewReader(&w.body)
	if err != nil {
		return w.body.Bytes()
	}
	plain, err := io.ReadAll(unpacking)
	if err != nil {
		return w.body.Bytes()
	}
	return plain
}

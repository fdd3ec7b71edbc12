package testenv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Response is an HTTP response.
type Response struct {
	Status int
	Header http.Header
	Body   string // the whole, without a line end after the last line

	request string // for messages
}

// NewRequest returns a request with a Bearer token, unless that is empty, and with
// headers, each a name and a value. It asks for no compression, which a client would do
// by itself and hide.
func NewRequest(t testing.TB, token, method, url string, body io.Reader, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	NoError(t, err)
	r.Header.Set("Accept-Encoding", "identity")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// Send sends the request of NewRequest. It follows no redirect.
func Send(t testing.TB, token, method, url, body string, header ...string) Response {
	t.Helper()
	return Do(t, http.DefaultTransport.RoundTrip, NewRequest(t, token, method, url, strings.NewReader(body), header...))
}

// Do sends a request with a function such as http.Client.Do and reads the response.
func Do(t testing.TB, send func(*http.Request) (*http.Response, error), r *http.Request) Response {
	t.Helper()
	got, err := send(r)
	if err != nil {
		t.Fatalf("%s %.200s: %v", r.Method, r.URL, err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatalf("%s %.200s: %v", r.Method, r.URL, err)
	}
	return Response{
		Status: got.StatusCode, Header: got.Header, Body: strings.TrimSuffix(string(body), "\n"),
		request: fmt.Sprintf("%s %.200s", r.Method, r.URL.RequestURI()),
	}
}

// Replayed reports whether the response repeats that of an earlier request with the same
// Idempotency-Key.
func (r Response) Replayed() bool { return r.Header.Get("Idempotent-Replayed") == "true" }

// Want reports a response with another status or another body. what names the request.
func (r Response) Want(t testing.TB, what string, status int, body string) {
	t.Helper()
	if r.Status != status {
		t.Errorf("%s: status %d, want %d: %s", what, r.Status, status, r.Body)
	}
	if diff := cmp.Diff(body, r.Body); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// WantStatus reports a response with another status.
func (r Response) WantStatus(t testing.TB, status int) {
	t.Helper()
	if r.Status != status {
		t.Errorf("%s: status %d, want %d: %.1000s", r.request, r.Status, status, r.Body)
	}
}

// WantText reports a response with another status, or whose body lacks a text.
func (r Response) WantText(t testing.TB, status int, texts ...string) {
	t.Helper()
	r.WantStatus(t, status)
	Contains(t, r.request, r.Body, texts...)
}

// Decode decodes the JSON of the body, or ends the test unless the status is 2xx.
func (r Response) Decode(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Body), into); err != nil || r.Status/100 != 2 {
		t.Fatalf("status %d, %v: %s", r.Status, err, r.Body)
	}
}

// Log is a log that can be read while it is written.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the log so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Lines returns the JSON lines with a message.
func (l *Log) Lines(t testing.TB, message string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for line := range strings.Lines(l.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if fields["msg"] == message {
			found = append(found, fields)
		}
	}
	return found
}

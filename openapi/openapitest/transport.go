package openapitest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"testing"
)

// CheckTransport is CheckHandler for the client of a server in another process. It does
// not check responses that end early.
func CheckTransport(t testing.TB, next http.RoundTripper) http.RoundTripper {
	return &transport{contract: Published(), report: newReport(t), next: next}
}

type transport struct {
	contract *Contract
	report   *report
	next     http.RoundTripper
}

// CloseIdleConnections is called by http.Client.
func (w *transport) CloseIdleConnections() {
	if closing, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		closing.CloseIdleConnections()
	}
}

// RoundTrip implements http.RoundTripper.
func (w *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	e := newExchange(request)
	// The client does not know how much of the body the server reads.
	e.BodyIncomplete = true
	response, err := w.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); mediaType == "application/json" {
		var complete bool
		if e.Body, complete = bufferBody(response); !complete {
			return response, nil
		}
	}
	e.Status, e.Header = response.StatusCode, response.Header.Clone()
	w.report.add(w.contract.Violations(e))
	return response, nil
}

// bufferBody reads the body of a response and replaces it with a copy, which ends with
// the same error. complete is false if there was one.
func bufferBody(response *http.Response) (body []byte, complete bool) {
	body, err := io.ReadAll(response.Body)
	err = errors.Join(err, response.Body.Close())
	var rest io.Reader = bytes.NewReader(body)
	if err != nil {
		rest = io.MultiReader(rest, errorReader{err})
	}
	response.Body = io.NopCloser(rest)
	return body, err == nil
}

// errorReader returns an error.
type errorReader struct{ err error }

// Read implements io.Reader.
func (f errorReader) Read([]byte) (int, error) { return 0, f.err }

package openapitest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"testing"
)

// WatchTransport is Watch for a client whose server runs as a process of its
// own: it makes the test fail at its end if anything came over the wire that
// the published documents do not describe. Answers that break off are not
// looked at.
func WatchTransport(t testing.TB, next http.RoundTripper) http.RoundTripper {
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
	// How much of its body the server takes is not known on this side.
	e.BodyUnknown = true
	response, err := w.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); mediaType == "application/json" {
		var whole bool
		if e.Body, whole = keep(response); !whole {
			return response, nil
		}
	}
	e.Status, e.Header = response.StatusCode, response.Header.Clone()
	w.report.add(w.contract.Faults(e))
	return response, nil
}

// keep reads the body of an answer and puts what was read back into its place,
// a fault on the way too.
func keep(response *http.Response) ([]byte, bool) {
	body, err := io.ReadAll(response.Body)
	err = errors.Join(err, response.Body.Close())
	var rest io.Reader = bytes.NewReader(body)
	if err != nil {
		rest = io.MultiReader(rest, failing{err})
	}
	response.Body = io.NopCloser(rest)
	return body, err == nil
}

// failing is the end of a body that breaks off.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

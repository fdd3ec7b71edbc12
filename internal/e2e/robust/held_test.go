package robust

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"testing"

	"merchantorders/internal/testenv"
)

// heldUpload is an upload of which the second half is held back.
type heldUpload struct {
	release  func() // sends the rest
	cut      func() // breaks the connection
	done     chan struct{}
	response response
	err      error
}

// hold begins an upload and sends half of it.
func (c client) hold(t testing.TB, orderPath, filename string, content []byte) *heldUpload {
	t.Helper()
	body := uploadBody(filename, content)
	gate := make(chan struct{})
	held := &heldUpload{release: sync.OnceFunc(func() { close(gate) }), done: make(chan struct{})}
	half := len(body) / 2
	ctx, cut := context.WithCancel(context.Background())
	held.cut = cut
	t.Cleanup(func() { cut(); held.release() })
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+orderPath+"/invoices",
		io.MultiReader(bytes.NewReader(body[:half]), &gatedReader{gate, bytes.NewReader(body[half:])}))
	testenv.NoError(t, err)
	request.ContentLength = int64(len(body))
	request.Header.Set("Authorization", "Bearer "+c.token)
	go func() {
		defer close(held.done)
		var response *http.Response
		if response, held.err = c.http.Do(request); held.err != nil {
			return
		}
		defer func() { _ = response.Body.Close() }()
		held.response.status, held.response.header = response.StatusCode, response.Header
		held.response.body, held.err = io.ReadAll(response.Body)
	}()
	return held
}

// result waits for the response.
func (h *heldUpload) result() (response, error) {
	<-h.done
	return h.response, h.err
}

// gatedReader reads nothing until its gate is closed.
type gatedReader struct {
	gate chan struct{}
	rest io.Reader
}

// Read implements io.Reader.
func (r *gatedReader) Read(p []byte) (int, error) {
	<-r.gate
	return r.rest.Read(p)
}

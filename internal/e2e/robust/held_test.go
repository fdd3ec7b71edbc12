package robust

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/app/apptest"
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
	body := apptest.UploadBody(filename, content)
	gate := make(chan struct{})
	held := &heldUpload{release: sync.OnceFunc(func() { close(gate) }), done: make(chan struct{})}
	half := len(body) / 2
	ctx, cut := context.WithCancel(context.Background())
	held.cut = cut
	t.Cleanup(func() { cut(); held.release() })
	text := io.MultiReader(strings.NewReader(body[:half]), &gatedReader{gate, strings.NewReader(body[half:])})
	go func() {
		defer close(held.done)
		held.response, held.err = c.TryContext(ctx, http.MethodPost, orderPath+"/invoices", text)
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

// TestGoneInTheMiddle has clients that go away in the middle of an upload, of which
// nothing stays. See e2e.TestBrokenOffBody for the bodies that look whole.
func TestGoneInTheMiddle(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Import(t, registered(1, 2))
	for n := sample(1); n <= 2; n++ {
		held := s.hold(t, n.Path(int(n)), "half.pdf", make([]byte, 400_000))
		testenv.Eventually(t, "the upload is under way", func() bool { return len(stagedFiles(t, s.Data)) > 0 })
		held.cut()
		testenv.Eventually(t, "nothing is left of it", func() bool { return len(stagedFiles(t, s.Data)) == 0 })
		s.nothingStored(t, n)
	}
	s.Ask(t, http.MethodGet, "/readyz", "").WantStatus(t, http.StatusOK)
}

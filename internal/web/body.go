package web

import (
	"hash"
	"io"
	"net/http"
	"time"
)

// MaxBody is the largest body, in bytes, of a request that decides an action.
const MaxBody = 1 << 20

// Bounds of the time that a client may take to send a body, and of what is
// read of a body that nobody wanted.
const (
	bodyTimeout   = 10 * time.Second
	uploadTimeout = 60 * time.Second

	maxDrained = 16 << 20 // bytes
	drainTimeout   = 2 * time.Second
)

// ReadBody reads a body of at most limit bytes, or returns ErrPayload when it
// is longer or cannot be read whole in time.
func ReadBody(r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, ErrInvalidPayload
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil || int64(len(body)) > limit {
		return nil, ErrInvalidPayload
	}
	return body, nil
}

// ExpectUpload gives the client the time that a large body may take. It is
// called before the body is read.
func ExtendUploadDeadline(r *http.Request) {
	requestBodyOf(r).extendDeadline(uploadTimeout)
}

// requestBody is the body of a request as handlers see it. It bounds the time
// that the client may take to send it, and afterwards reads and drops, within
// bounds, what the handler left: a client that sends all before it reads would
// otherwise find its connection reset instead of the answer. net/http closes
// the connection, and says so in the answer, where much was left.
//
// The deadlines are of the connection, so they go by the system's clock. A nil
// requestBody is that of a request without one.
type requestBody struct {
	io.ReadCloser
	control *http.ResponseController
	ended   bool // read to its end
	broken  bool // it ended before its end
	// digest takes what is read; nil: nobody asks for it.
	digest hash.Hash
}

// withBody returns the request with its body watched.
func withBody(w http.ResponseWriter, r *http.Request) (*http.Request, *requestBody) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, nil
	}
	body := &requestBody{ReadCloser: r.Body, control: http.NewResponseController(w)}
	body.extendDeadline(bodyTimeout)
	watched := *r
	watched.Body = body
	return &watched, body
}

// restOf returns the watched body of a request, nil where there is none.
func requestBodyOf(r *http.Request) *requestBody {
	body, _ := r.Body.(*requestBody)
	return body
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.digest != nil {
		_, _ = b.digest.Write(p[:n]) // a digest takes everything
	}
	b.broken = b.broken || err != nil && err != io.EOF
	if err == io.EOF {
		b.ended = true
		// From here on the server listens for the client going away; a deadline
		// would look like that and end the request's context.
		b.setDeadline(time.Time{})
	}
	return n, err
}

// allow gives the client a time from now to send the rest of the body.
func (b *requestBody) extendDeadline(d time.Duration) {
	if b != nil && !b.ended {
		b.setDeadline(time.Now().Add(d))
	}
}

// hurry is called before an answer that does not need the rest of the body:
// net/http reads a little of it before it lets the answer go.
func (b *requestBody) shortenDeadline() { b.extendDeadline(drainTimeout) }

// drop sends the answer on its way and reads what the handler left.
func (b *requestBody) drain() {
	if b == nil || b.ended {
		return
	}
	// A writer without a connection behind it has nothing to flush.
	_ = b.control.Flush()
	b.extendDeadline(drainTimeout)
	// The client may go away, be too slow or send too much: all the same here.
	_, _ = io.Copy(io.Discard, io.LimitReader(b, maxDrained))
}

// deadline sets the read deadline of the connection, where there is one.
func (b *requestBody) setDeadline(at time.Time) { _ = b.control.SetReadDeadline(at) }

package web

import (
	"hash"
	"io"
	"net/http"
	"time"

	"merchantorders/internal/strict"
)

// MaxBody is the largest body, in bytes, of requests other than uploads and order
// documents.
const MaxBody = 64 << 10

const (
	// bodyTimeout is how long a client may take to send a body, and
	// uploadTimeout the same for an upload.
	bodyTimeout   = 10 * time.Second
	uploadTimeout = 60 * time.Second

	// maxDrained and drainTimeout bound the reading of a body that no handler
	// wanted. It is read in parts, a pause apart, so that a client that sends
	// nothing else costs others little.
	maxDrained   = 16 << 20 // bytes
	drainTimeout = 2 * time.Second
	drainedPart  = 64 << 10
	drainPause   = drainTimeout / 2 * drainedPart / maxDrained
)

// ReadBody reads a body of at most limit bytes. It returns strict.ErrInvalidPayload if
// the body is longer or does not arrive completely in time.
func ReadBody(r *Request, limit int64) ([]byte, error) {
	tooLong := strict.Detail(strict.ErrInvalidPayload, "The body may have %d bytes at most.", limit)
	if r.ContentLength > limit {
		return nil, tooLong
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case err != nil:
		return nil, strict.Detail(strict.ErrInvalidPayload, "The body did not arrive completely and in time: is Content-Length the number of its bytes?")
	case int64(len(body)) > limit:
		return nil, tooLong
	}
	return body, nil
}

// ExtendUploadDeadline gives the client the time that an upload may take. A
// handler calls it before it reads the body.
func ExtendUploadDeadline(r *Request) {
	requestBodyOf(r.Request).setTimeout(uploadTimeout)
}

// requestBody is the body of a request as handlers see it. It bounds the time that
// the client may take to send it. After the handler it drains what the handler did
// not read, within bounds: a client that sends everything before it reads would
// otherwise see a reset connection instead of the response. If more is left,
// net/http closes the connection and says so in the response.
//
// Its deadlines are those of the connection, so they use the system's clock. All
// methods but Read accept a nil requestBody, of a request without a body.
type requestBody struct {
	io.ReadCloser
	control    *http.ResponseController
	ended      bool      // read to its end
	incomplete bool      // reading failed before the end
	digest     hash.Hash // of what was read; nil: not needed
}

// withRequestBody returns the request with its body wrapped in a requestBody.
func withRequestBody(w http.ResponseWriter, r *http.Request) (*http.Request, *requestBody) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, nil
	}
	body := &requestBody{ReadCloser: r.Body, control: http.NewResponseController(w)}
	body.setTimeout(bodyTimeout)
	wrapped := *r
	wrapped.Body = body
	return &wrapped, body
}

// requestBodyOf returns the wrapped body of a request, nil if it has none.
func requestBodyOf(r *http.Request) *requestBody {
	body, _ := r.Body.(*requestBody)
	return body
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.digest != nil {
		_, _ = b.digest.Write(p[:n]) // a hash never returns an error
	}
	b.incomplete = b.incomplete || err != nil && err != io.EOF
	if err == io.EOF {
		b.ended = true
		// From here on the server reads from the connection to notice that the
		// client disconnects. A deadline would look like that and end the context.
		b.setDeadline(time.Time{})
	}
	return n, err
}

// setTimeout extends or shortens the time for the rest of the body to d from now.
func (b *requestBody) setTimeout(d time.Duration) {
	if b != nil && !b.ended {
		b.setDeadline(time.Now().Add(d))
	}
}

// shortenDeadline is called before a response that does not need the rest of the
// body: net/http reads a part of the rest before it sends the response.
func (b *requestBody) shortenDeadline() { b.setTimeout(drainTimeout) }

// abandon gives up the rest of the body, which is neither read nor drained.
func (b *requestBody) abandon() {
	if b != nil {
		b.setDeadline(time.Unix(1, 0))
		b.ended = true
	}
}

// drain sends the response and reads what the handler did not read.
func (b *requestBody) drain() {
	if b == nil || b.ended {
		return
	}
	_ = b.control.Flush() // fails for a writer without a connection, which has nothing to flush
	b.shortenDeadline()
	// The client may disconnect, be slow or send too much. None of it matters now.
	next := time.Now()
	for range maxDrained / drainedPart {
		if n, err := io.CopyN(io.Discard, b, drainedPart); n < drainedPart || err != nil {
			break
		}
		next = next.Add(drainPause)
		time.Sleep(time.Until(next)) // a busy machine wakes it late, and then it does not wait
	}
	b.ended = true
}

// setDeadline sets the read deadline of the connection, if there is one.
func (b *requestBody) setDeadline(at time.Time) { _ = b.control.SetReadDeadline(at) }

// ReadObject reads a body that is an object with members of certain names only.
func ReadObject(r *Request, names ...string) *strict.Body {
	return ReadLargeObject(r, MaxBody, names...)
}

// ReadLargeObject is ReadObject for a body of at most limit bytes.
func ReadLargeObject(r *Request, limit int64, names ...string) *strict.Body {
	text, err := ReadBody(r, limit)
	if err != nil {
		return strict.NoBody(err)
	}
	return strict.ParseBody(text, names...)
}

// ReadOptionalObject is ReadObject, but an empty body is an object without members.
func ReadOptionalObject(r *Request, names ...string) *strict.Body {
	text, err := ReadBody(r, MaxBody)
	if err != nil || len(text) == 0 {
		return strict.NoBody(err)
	}
	return strict.ParseBody(text, names...)
}

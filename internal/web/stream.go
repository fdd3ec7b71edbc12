package web

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// LinesType is the media type of NDJSON, one JSON value a line.
const LinesType = "application/x-ndjson"

// streamTimeout is how long the client of a stream may take to send the next bytes, or
// to take those that are sent to it. Both together may last for any time.
const streamTimeout = 60 * time.Second

// StreamHandler serves a request whose body and response are lines. An error that it
// returns before it has flushed becomes a response; a later one goes to the log.
type StreamHandler func(s *Stream) error

// flushSize is from how many bytes on SendLine sends what was written.
const flushSize = 32 << 10

// Stream is a request with a body of any length, and a response of any length that is
// sent while the body arrives, of lines of JSON unless its type is another one. The
// client must read while it sends. One that stalls for streamTimeout is cut off.
type Stream struct {
	*Request
	timeout time.Duration
	cancel  context.CancelCauseFunc
	w       http.ResponseWriter
	control *http.ResponseController
	body    io.Reader

	mu     sync.Mutex // held during a Read
	closed bool

	lines   bytes.Buffer // to be sent
	encoder *json.Encoder
	begun   bool // the header is sent
}

// serveStream returns the handler of a stream route. timeout is streamTimeout, except in
// tests.
func serveStream(timeout time.Duration, handle StreamHandler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		s, end := newStream(w, r, timeout)
		defer end()
		// HTTP/2 always works in both directions, and returns an error here.
		_ = s.control.EnableFullDuplex()
		switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
		case "", "identity":
		case "gzip", "x-gzip": // RFC 9110 8.4.1.3: they are equivalent
			s.body = &gzipBody{compressed: streamBody{s}}
		default:
			w.Header().Set("Accept-Encoding", "gzip")
			return ErrContentEncoding
		}
		err := handle(s)
		if err != nil && s.begun {
			r.LogError(err)
			return nil
		}
		return err
	}
}

// newStream returns the stream of a request, whose context ends when the server stops.
// end closes it and frees what belongs to the context.
func newStream(w http.ResponseWriter, r *Request, timeout time.Duration) (s *Stream, end func()) {
	ctx, cancel := context.WithCancelCause(r.Context())
	s = &Stream{timeout: timeout, cancel: cancel, Request: r.WithContext(ctx), w: w, control: http.NewResponseController(w)}
	s.body = streamBody{s}
	s.encoder = json.NewEncoder(&s.lines)
	s.encoder.SetEscapeHTML(false)
	if r.credentials != nil {
		go s.watch(ctx, checkInterval)
	}
	end = s.close
	if stopping, ok := ctx.Value(stoppingKey{}).(context.Context); ok {
		stop := context.AfterFunc(stopping, func() { cancel(ErrStopping) })
		end = func() { stop(); s.close() }
	}
	return s, end
}

// OpenBody returns the stream of a request whose handler reads a body of any length as
// a Stream does, and then writes one response of its own. The handler calls end after
// the last Read that it starts and before it writes.
func OpenBody(w http.ResponseWriter, r *Request) (s *Stream, end func()) {
	s, closeStream := newStream(w, r, streamTimeout)
	return s, func() {
		closeStream()
		_ = s.control.SetWriteDeadline(time.Now().Add(s.timeout)) // without a connection there is none
	}
}

// OpenResponse returns the stream of a request whose handler sends a response of any
// length as a Stream does. The handler calls end after it.
func OpenResponse(w http.ResponseWriter, r *Request) (s *Stream, end func()) {
	return newStream(w, r, streamTimeout)
}

// Read reads the body, decompressed. Only one goroutine may call it.
func (s *Stream) Read(p []byte) (int, error) { return s.body.Read(p) }

// ResponseHeader returns the header of the response. It may be changed before the first
// Flush.
func (s *Stream) ResponseHeader() http.Header { return s.w.Header() }

// Write adds bytes to the response. Flush sends them.
func (s *Stream) Write(p []byte) (int, error) { return s.lines.Write(p) }

// WriteLine adds a line to the response. Flush sends it.
func (s *Stream) WriteLine(value any) error { return s.encoder.Encode(value) }

// checkInterval is how often a stream in progress looks whether its token and merchant may
// go on. Its client may send nothing, or take nothing, for longer.
const checkInterval = 10 * time.Second

// watch ends the context of a stream when its caller may not go on.
func (s *Stream) watch(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	looking := *s.Request
	looking.log = &requestLogEntry{} // that of the request belongs to its handler
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := looking.Reauthenticate(make(http.Header)); errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrSuspended) {
			s.cancel(err)
			return
		}
	}
}

// SendLine adds a line to the response, unless making it returned an error, and sends what was
// written if that is much.
func (s *Stream) SendLine(value any, err error) error {
	if err == nil {
		err = s.WriteLine(value)
	}
	if err != nil || s.lines.Len() < flushSize {
		return err
	}
	return s.Flush()
}

// Flush sends what was written. An error means that the client does not
// read them; it also ends the context.
func (s *Stream) Flush() error {
	if !s.begun {
		s.begun = true
		h := s.w.Header()
		if h.Get("Content-Type") == "" {
			h.Set("Content-Type", LinesType)
		}
		h["X-Content-Type-Options"], h["Cache-Control"] = noSniff, noStore
		s.w.WriteHeader(http.StatusOK)
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(s.timeout)) // without a connection there is none
	content := s.lines.Bytes()
	if s.w.Header().Get("Content-Type") == LinesType {
		content = EscapeLines(content)
	}
	_, err := s.w.Write(content)
	s.lines.Reset()
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		s.cancel(err)
	}
	return err
}

// Stopping reports whether the stream ends because the service stops.
func (s *Stream) Stopping() bool { return errors.Is(context.Cause(s.Context()), ErrStopping) }

// Ended returns why a stream ended early, if it did not fail: the service stops, or the
// token or its merchant may not go on. Empty: for another reason.
func (s *Stream) Ended(err error) string {
	err = cmp.Or(context.Cause(s.Context()), err)
	switch {
	case s.Stopping():
		return "The service is stopping."
	case errors.Is(err, ErrUnauthorized):
		return "The token is not valid any more."
	case errors.Is(err, ErrSuspended):
		return "The merchant is suspended."
	}
	return ""
}

// WriteJSON sends a response of one value instead of lines.
func (s *Stream) WriteJSON(value any) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(s.timeout)) // without a connection there is none
	return WriteJSON(s.w, http.StatusOK, value)
}

// close ends a Read that is still running and waits for it: net/http does not allow
// one after the handler.
func (s *Stream) close() {
	// Before the deadline is set: a Read that begins later returns at once.
	s.cancel(context.Canceled)
	body := requestBodyOf(s.Request.Request)
	if body == nil {
		return
	}
	if !s.mu.TryLock() {
		body.setDeadline(time.Unix(1, 0))
		s.mu.Lock()
		if body.ended {
			body.setDeadline(time.Time{}) // see requestBody.Read
		}
	}
	s.closed = true
	s.mu.Unlock()
}

// streamBody is the body of a Stream as it arrives.
type streamBody struct{ *Stream }

// Read implements io.Reader.
func (b streamBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	requestBodyOf(b.Request.Request).setTimeout(b.timeout)
	if err := b.Context().Err(); err != nil {
		return 0, err
	}
	return b.Body.Read(p)
}

// maxExpansion is how many times larger than what was sent a decompressed body may be,
// beyond its first minExpansion bytes. Lines of orders expand 5 to 60 times.
const (
	maxExpansion = 200
	minExpansion = 1 << 20
)

// ErrExpanded is the error of a Read of a body that expands too much.
var ErrExpanded = errors.New("the body expands to more than 200 times its size")

// ExpandedProblem is ErrExpanded for clients.
const ExpandedProblem = "The body expands to more than 200 times its compressed size. Send it without compression."

// gzipBody decompresses a body. Its first Read reads the header.
type gzipBody struct {
	compressed     io.Reader
	read, expanded int64 // bytes
	*gzip.Reader
}

// Read implements io.Reader.
func (b *gzipBody) Read(p []byte) (int, error) {
	if b.Reader == nil {
		reader, err := gzip.NewReader(bufio.NewReader(countingReader{b.compressed, &b.read}))
		if err != nil {
			return 0, err
		}
		b.Reader = reader
	}
	if b.expanded > minExpansion && b.expanded > maxExpansion*b.read {
		return 0, ErrExpanded
	}
	n, err := b.Reader.Read(p)
	b.expanded += int64(n)
	return n, err
}

// countingReader counts the bytes that are read.
type countingReader struct {
	io.Reader
	n *int64
}

// Read implements io.Reader.
func (r countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	*r.n += int64(n)
	return n, err
}

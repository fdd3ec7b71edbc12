package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// call is one question to the service, however often it is tried.
type call struct {
	op     string // for errors
	method string
	url    string
	header http.Header // beside those of every call; nil: none
	// body returns the body from its beginning, anew for each try; nil: none.
	body func() (requestBody, error)

	write     *write        // options of a call that writes; nil: it reads
	timeout   time.Duration // of one try; 0: the client's
	anyType   bool          // whether the answer may be something else than JSON
	anonymous bool          // whether it goes without the token
	limit     int64         // bytes that the answer may have; 0: maxAnswer
	missing   error         // kind of a 404 without words that are known; nil: ErrUnsupported
}

// requestBody is the body of one try.
type requestBody interface {
	io.ReadCloser
	// size returns how many bytes it has.
	size() int64
	// end makes sure that nothing more is read of what the caller gave, waits for
	// a read under way, and returns the fault of the caller's reader, if any.
	end() error
}

// answer is what came back, whole.
type answer struct {
	status    int
	header    http.Header
	body      []byte
	requestID string
	tries     int
}

// Bytes that an answer may have. A list of 100 orders has 50 KB; the limits are
// against an endless one.
const (
	maxAnswer = 32 << 20
	maxError  = 64 << 10
)

// once sends a call one time. Every error is an *Error.
func (c *Client) once(ctx context.Context, call *call, id string) (answer, error) {
	timeout := call.timeout
	if timeout == 0 {
		timeout = c.timeout
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, body, err := c.newRequest(bounded, call, id)
	if err != nil {
		return answer{}, c.lost(ctx, call, id, err)
	}
	if body != nil {
		defer func() { _ = body.end() }()
	}
	response, err := c.http.Do(request)
	if err != nil {
		if fault := endOf(body); fault != nil {
			return answer{}, &Error{Op: c.clean(call.op), Message: c.clean("read what is to be sent: " + fault.Error()), RequestID: id, err: c.cause(fault)}
		}
		return answer{}, c.lost(ctx, call, id, err)
	}
	defer func() { _ = response.Body.Close() }()
	if sent := response.Header.Get(requestIDHeader); plainID(sent) && c.redact(sent) == sent {
		id = sent
	}
	return c.read(ctx, call, id, response)
}

func endOf(body requestBody) error {
	if body == nil {
		return nil
	}
	return body.end()
}

const requestIDHeader = "X-Request-Id"

// newRequest returns the request of one try, and its body where it has one.
func (c *Client) newRequest(ctx context.Context, call *call, id string) (*http.Request, requestBody, error) {
	request, err := http.NewRequestWithContext(ctx, call.method, call.url, nil)
	if err != nil {
		return nil, nil, err
	}
	for name, values := range call.header {
		request.Header[name] = values
	}
	request.Header.Set("User-Agent", c.agent)
	request.Header.Set(requestIDHeader, id)
	if !call.anyType {
		request.Header.Set("Accept", "application/json")
	}
	if !call.anonymous {
		c.authorize(request.Header)
	}
	if w := call.write; w != nil && w.key != nil {
		request.Header.Set("Idempotency-Key", *w.key)
	}
	if w := call.write; w != nil && w.match != nil {
		request.Header.Set("If-Match", *w.match)
	}
	if call.body == nil {
		return request, nil, nil
	}
	body, err := call.body()
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Body, request.ContentLength = body, body.size()
	return request, body, nil
}

// read reads an answer to its end, as far as it may go.
func (c *Client) read(ctx context.Context, call *call, id string, response *http.Response) (answer, error) {
	a := answer{status: response.StatusCode, header: response.Header, requestID: id}
	limit := call.limit
	if limit == 0 {
		limit = maxAnswer
	}
	good := a.status == http.StatusOK
	if !good {
		limit = maxError
	}
	var err error
	a.body, err = io.ReadAll(io.LimitReader(response.Body, limit+1))
	long := int64(len(a.body)) > limit
	switch {
	case !good && (long || err != nil):
		a.body = nil // the status says enough
		return a, c.refusal(call, a)
	case !good:
		return a, c.refusal(call, a)
	case long:
		return a, c.malformed(call, a, fmt.Errorf("larger than %d bytes", limit))
	case err != nil:
		return a, c.lost(ctx, call, id, err)
	case !call.anyType && !isJSON(a.header):
		return a, c.malformed(call, a, fmt.Errorf("content type %q", a.header.Get("Content-Type")))
	}
	return a, nil
}

func isJSON(header http.Header) bool {
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && mediaType == "application/json"
}

// lost is the error of a call to which no answer came, or not a whole one.
func (c *Client) lost(ctx context.Context, call *call, id string, err error) *Error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the address: op says what was asked
	}
	e := &Error{Op: c.clean(call.op), Kind: ErrTransport, RequestID: id, err: c.cause(err)}
	switch {
	case ctx.Err() != nil:
		e.Kind, e.err = nil, context.Cause(ctx)
		if !errors.Is(e.err, ctx.Err()) {
			e.err = errors.Join(ctx.Err(), e.err)
		}
		e.Message = c.clean("given up: " + ctx.Err().Error())
	case errors.Is(err, context.DeadlineExceeded):
		e.Message = ErrTransport.Error() + " in time"
	default:
		e.Message = c.clean(ErrTransport.Error() + ": " + err.Error())
	}
	return e
}

// address returns the address of a path below /v2, whose parts are escaped.
func (c *Client) address(query url.Values, parts ...string) string {
	text := c.base.String() + "/v2"
	for _, part := range parts {
		text += "/" + escape(part)
	}
	if len(query) > 0 {
		text += "?" + query.Encode()
	}
	return text
}

// escape makes a text one part of a path. A part of dots would be taken for a
// way up.
func escape(part string) string {
	switch part {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(part)
}

// retryAfter reads how long a service asks to wait: seconds, or a date.
func (c *Client) retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(c.now()).Round(time.Second), 0)
	}
	return 0
}

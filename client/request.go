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

// call is one call of the service, with all its attempts.
type call struct {
	op     string // for errors
	method string
	url    string
	header http.Header // additional headers; may be nil
	// body returns the body of an attempt, from its start; nil: no body.
	body func() (requestBody, error)

	write     *write        // options of a write; nil: a read
	timeout   time.Duration // of one attempt; 0: the client's
	anyType   bool          // whether the response may be other than JSON
	anonymous bool          // whether to omit the token
	limit     int64         // maximum size of the response, in bytes; 0: maxResponse
	notFound  error         // kind of a 404 without words that are known; nil: ErrUnsupported
}

// requestBody is the body of one attempt.
type requestBody interface {
	io.ReadCloser
	// size returns the length in bytes.
	size() int64
	// end prevents further reads of the caller's reader, waits for a read in
	// progress, and returns the error of that reader, if any.
	end() error
}

// response is a response that was read completely.
type response struct {
	status    int
	header    http.Header
	body      []byte
	requestID string
	tries     int
}

// Maximum sizes of responses, in bytes. A list of 100 orders has 50 KB.
const (
	maxResponse  = 32 << 20
	maxErrorBody = 64 << 10
)

// attempt sends a call once. Every error is an *Error.
func (c *Client) attempt(ctx context.Context, call *call, id string) (response, error) {
	timeout := call.timeout
	if timeout == 0 {
		timeout = c.timeout
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, body, err := c.newRequest(bounded, call, id)
	if err != nil {
		return response{}, c.transportError(ctx, call, id, err)
	}
	if body != nil {
		defer func() { _ = body.end() }()
	}
	httpResponse, err := c.http.Do(request)
	if err != nil {
		if readErr := endBody(body); readErr != nil {
			return response{}, &Error{Op: c.clean(call.op), Message: c.clean("read the content: " + readErr.Error()), RequestID: id, err: c.cause(readErr)}
		}
		return response{}, c.transportError(ctx, call, id, err)
	}
	defer func() { _ = httpResponse.Body.Close() }()
	if sent := httpResponse.Header.Get(requestIDHeader); validRequestID(sent) && c.redact(sent) == sent {
		id = sent
	}
	return c.read(ctx, call, id, httpResponse)
}

// endBody ends a body, which may be nil.
func endBody(body requestBody) error {
	if body == nil {
		return nil
	}
	return body.end()
}

const requestIDHeader = "X-Request-Id"

// newRequest returns the request of one attempt, and its body; nil if it has none.
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

// read reads a response, up to its maximum size.
func (c *Client) read(ctx context.Context, call *call, id string, httpResponse *http.Response) (response, error) {
	r := response{status: httpResponse.StatusCode, header: httpResponse.Header, requestID: id}
	limit := call.limit
	if limit == 0 {
		limit = maxResponse
	}
	ok := r.status == http.StatusOK
	if !ok {
		limit = maxErrorBody
	}
	var err error
	r.body, err = io.ReadAll(io.LimitReader(httpResponse.Body, limit+1))
	tooLong := int64(len(r.body)) > limit
	switch {
	case !ok && (tooLong || err != nil):
		r.body = nil // the status is sufficient
		return r, c.responseError(call, r)
	case !ok:
		return r, c.responseError(call, r)
	case tooLong:
		return r, c.malformed(call, r, fmt.Errorf("larger than %d bytes", limit))
	case err != nil:
		return r, c.transportError(ctx, call, id, err)
	case !call.anyType && !isJSON(r.header):
		return r, c.malformed(call, r, fmt.Errorf("content type %q", r.header.Get("Content-Type")))
	}
	return r, nil
}

func isJSON(header http.Header) bool {
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && mediaType == "application/json"
}

// transportError returns the error of a call without a complete response.
func (c *Client) transportError(ctx context.Context, call *call, id string, err error) *Error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the URL: Op names the operation
	}
	e := &Error{Op: c.clean(call.op), Kind: ErrTransport, RequestID: id, err: c.cause(err)}
	switch {
	case ctx.Err() != nil:
		e.Kind, e.err = nil, context.Cause(ctx)
		if !errors.Is(e.err, ctx.Err()) {
			e.err = errors.Join(ctx.Err(), e.err)
		}
		e.Message = c.clean("canceled: " + ctx.Err().Error())
	case errors.Is(err, context.DeadlineExceeded):
		e.Message = ErrTransport.Error() + " in time"
	default:
		e.Message = c.clean(ErrTransport.Error() + ": " + err.Error())
	}
	return e
}

// address returns the URL of a path below /v2. It escapes the parts.
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

// escape escapes one part of a path, also "." and "..".
func escape(part string) string {
	switch part {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(part)
}

// retryAfter returns the value of Retry-After, which is in seconds or a date; 0 if
// there is none.
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

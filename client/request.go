package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// call is one call of the service, with all its attempts.
type call struct {
	op      string // for errors
	method  string
	url     string
	body    []byte // JSON; nil: no body
	invalid string // what is wrong with the arguments, and the call is not sent; empty: nothing

	write     *write        // options of a write; nil: a read
	timeout   time.Duration // of one attempt; 0: the client's
	download  bool          // the response is a file: redirects are followed, compression is not used
	lines     bool          // body and response are lines of JSON
	anonymous bool          // whether to omit the token
	creates   bool          // the status of success is 201, not 200
	notFound  error         // kind of a 404 without words that are known; nil: ErrUnsupported
}

// success returns the status of success.
func (call *call) success() int {
	if call.creates {
		return http.StatusCreated
	}
	return http.StatusOK
}

// mediaType returns that of the body and of the response of success.
func (call *call) mediaType() string {
	if call.lines {
		return "application/x-ndjson"
	}
	return "application/json"
}

// orderCall returns a call below the path of an order.
func (c *Client) orderCall(method, op, reference string, below ...string) *call {
	call := &call{op: op, method: method, url: c.address(nil, append([]string{"orders", reference}, below...)...)}
	if reference == "" {
		// The path would be that of the list.
		call.invalid = "the order reference is empty"
	}
	return call
}

// text returns a number in digits.
func text(n int64) string { return strconv.FormatInt(n, 10) }

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

// attempt sends a call once.
func (c *Client) attempt(ctx context.Context, call *call, id string) (response, *Error) {
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(call.timeout, c.timeout))
	defer cancel()
	httpResponse, err := c.roundTrip(bounded, call, id)
	if err != nil {
		return response{}, c.transportError(ctx, call, id, err)
	}
	defer func() { _ = httpResponse.Body.Close() }()
	if sent := httpResponse.Header.Get(requestIDHeader); requestIDForm.MatchString(sent) && c.redact(sent) == sent {
		id = sent
	}
	return c.read(ctx, call, id, httpResponse)
}

const requestIDHeader = "X-Request-Id"

// requestIDForm matches every request id.
var requestIDForm = regexp.MustCompile(`^[0-9A-Za-z_.-]{1,64}$`)

// roundTrip sends the request of one attempt.
func (c *Client) roundTrip(ctx context.Context, call *call, id string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, call.method, call.url, bytes.NewReader(call.body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", c.agent)
	request.Header.Set("Prefer", "handling=strict") // an error instead of a parameter without effect
	request.Header.Set(requestIDHeader, id)
	if call.download {
		// Without compression Content-Length shows whether the file is complete.
		request.Header.Set("Accept-Encoding", "identity")
	} else {
		request.Header.Set("Accept", call.mediaType())
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
	if call.body != nil {
		request.Header.Set("Content-Type", call.mediaType())
	}
	return c.http.Do(request)
}

// read reads a response, up to its maximum size.
func (c *Client) read(ctx context.Context, call *call, id string, httpResponse *http.Response) (response, *Error) {
	r := response{status: httpResponse.StatusCode, header: httpResponse.Header, requestID: id}
	limit := maxResponse
	switch {
	case r.status != call.success():
		limit = maxErrorBody
	case call.download:
		limit = MaxInvoiceSize
	}
	var err error
	r.body, err = io.ReadAll(io.LimitReader(httpResponse.Body, int64(limit)+1))
	tooLong := len(r.body) > limit
	switch {
	case r.status != call.success():
		if tooLong || err != nil {
			r.body = nil // the status is sufficient
		}
		return r, c.responseError(call, r)
	case tooLong:
		return r, c.malformed(call, r, fmt.Errorf("larger than %d bytes", limit))
	case err != nil:
		return r, c.transportError(ctx, call, id, err)
	case !call.download && !hasType(r.header, call.mediaType()):
		return r, c.malformed(call, r, fmt.Errorf("content type %q", r.header.Get("Content-Type")))
	}
	if !call.lines {
		return r, nil
	}
	if problem := incomplete(r.body); problem != "" {
		return r, &Error{Op: c.clean(call.op), Kind: ErrUnavailable, Status: r.status, RequestID: id, Message: c.clean(problem)}
	}
	return r, nil
}

func isJSON(header http.Header) bool { return hasType(header, "application/json") }

// hasType reports whether a body has a media type.
func hasType(header http.Header, want string) bool {
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && mediaType == want
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

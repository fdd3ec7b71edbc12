package client

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// errorBody is the body of an error: {"error": {...}} or {"message": ...}.
type errorBody struct {
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Message string `json:"message"`
}

// responseError returns the error of a response whose status is not 200.
func (c *Client) responseError(call *call, r response) *Error {
	e := &Error{
		Op: c.clean(call.op), Status: r.status, RequestID: r.requestID, RetryAfter: c.retryAfter(r.header),
	}
	var body errorBody
	known := isJSON(r.header) && json.Unmarshal(r.body, &body) == nil
	if known && body.Error != nil {
		e.Code, e.Message = c.clean(body.Error.Code), c.clean(body.Error.Message)
	} else if known {
		e.Message = c.clean(body.Message)
	}
	e.Kind = kindOf(call, e)
	if e.Message == "" {
		e.Message = c.clean(e.Kind.Error() + redirectTarget(r))
	}
	return e
}

// redirectTarget returns a text with the target of a redirect, which the client
// does not follow.
func redirectTarget(r response) string {
	to, err := url.Parse(r.header.Get("Location"))
	if r.status/100 != 3 || err != nil || to.Host == "" {
		return ""
	}
	return ": a redirect to " + to.Scheme + "://" + to.Host
}

// kindOf returns the kind of an error: by its code, in either set of codes
// (decision 5), or its message, else by its status.
func kindOf(call *call, e *Error) error {
	switch e.Status / 100 {
	case 2, 3:
		return ErrResponse
	case 5:
		return kindOfServerError(e.Status)
	}
	if kind, ok := wordKinds[e.Code]; ok {
		return kind
	}
	if kind, ok := messageKinds[e.Message]; ok && e.Status < http.StatusInternalServerError {
		return kind
	}
	if strings.HasPrefix(e.Message, "The order with id ") && e.Status == http.StatusNotFound {
		return ErrNotFound
	}
	if kind := kindOfNumericCode(call, e); kind != nil {
		return kind
	}
	if e.Status == http.StatusNotFound && call.notFound != nil {
		return call.notFound
	}
	if kind, ok := statusKinds[e.Status]; ok {
		return kind
	}
	if e.Message == "" {
		return ErrResponse // not from the service, but from a proxy
	}
	return ErrRefused
}

func kindOfServerError(status int) error {
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ErrUnavailable
	}
	return ErrInternal
}

// kindOfNumericCode returns the kind of a published code whose message is not
// known, for example in another language. 10301 and 10304 have two meanings each.
func kindOfNumericCode(call *call, e *Error) error {
	switch e.Code {
	case "10301":
		if e.Status == http.StatusNotFound {
			return ErrNotFound
		}
		return ErrInvalidReason
	case "10303":
		return ErrCannotAccept
	case "10304":
		if strings.HasSuffix(call.url, "/accept") {
			return ErrCannotAccept
		}
		return ErrCannotReject
	case "10305":
		return ErrInvalidAction
	case "10306":
		return ErrInvalidReason
	}
	return nil
}

// wordKinds are the kinds of codes that are words.
var wordKinds = map[string]error{
	"unauthorized":            ErrUnauthorized,
	"forbidden":               ErrForbidden,
	"invalid_params":          ErrInvalidParams,
	"invalid_payload":         ErrInvalidPayload,
	"not_found":               ErrUnsupported,
	"method_not_allowed":      ErrUnsupported,
	"too_many_requests":       ErrRateLimited,
	"precondition_failed":     ErrPrecondition,
	"idempotency_key_reused":  ErrKeyReused,
	"idempotency_key_running": ErrInProgress,
}

// messageKinds are the kinds of published messages. Some errors share a code, and
// bodies {"message": ...} have none.
var messageKinds = map[string]error{
	"Cannot Accept Order":                  ErrCannotAccept,
	"Cannot Reject Order":                  ErrCannotReject,
	"The reason is not valid":              ErrInvalidReason,
	"Reason Is Not Valid":                  ErrInvalidReason,
	"Invalid Action":                       ErrInvalidAction,
	"Invalid payload.":                     ErrInvalidPayload,
	"Invalid request params.":              ErrInvalidParams,
	"The file type is not supported.":      ErrFileType,
	"The file size is too big.":            ErrFileTooBig,
	"You cannot upload more than 3 files.": ErrTooManyFiles,
	"The invoice was not found.":           ErrInvoiceNotFound,
}

// statusKinds are the kinds of statuses with one meaning.
var statusKinds = map[int]error{
	http.StatusUnauthorized:        ErrUnauthorized,
	http.StatusForbidden:           ErrForbidden,
	http.StatusMethodNotAllowed:    ErrUnsupported,
	http.StatusNotFound:            ErrUnsupported,
	http.StatusConflict:            ErrInProgress,
	http.StatusPreconditionFailed:  ErrPrecondition,
	http.StatusUnprocessableEntity: ErrKeyReused,
	http.StatusTooManyRequests:     ErrRateLimited,
}

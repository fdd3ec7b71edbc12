package client

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
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

// responseError returns the error of a response that is no success.
func (c *Client) responseError(call *call, r response) *Error {
	e := &Error{
		Op: c.clean(call.op), Status: r.status, RequestID: r.requestID, RetryAfter: c.retryAfter(r.header), Detail: c.clean(r.header.Get("Error-Detail")),
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
		e.Message = c.clean(e.Kind.Error() + ": " + foreign(r))
	}
	return e
}

// markup is what people do not read of a page.
var markup = regexp.MustCompile(`(?is)<head.*?</head>|<[^>]*>`)

// foreign says what a response is that has no words of the service: it is from a proxy, or from
// another server.
func foreign(r response) string {
	if to, err := url.Parse(r.header.Get("Location")); r.status/100 == 3 && err == nil && to.Host != "" {
		return "a redirect to " + to.Scheme + "://" + to.Host
	}
	text := "a proxy or another server responded"
	if page := strings.Fields(string(markup.ReplaceAll(r.body, []byte(" ")))); len(page) > 0 {
		text += ": " + strings.Join(page, " ")
	}
	return text
}

// kindOf returns the kind of an error: by its code, in either set of codes
// (decision 5), or its message, else by its status.
func kindOf(call *call, e *Error) error {
	switch e.Status / 100 {
	case 2, 3:
		return ErrResponse
	case 5:
		switch e.Status {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return ErrUnavailable
		}
		return ErrInternal
	}
	// Three codes have two meanings.
	switch {
	case e.Code == "10301" && e.Status == http.StatusNotFound, e.Status == http.StatusNotFound && strings.HasPrefix(e.Message, "The order with id "):
		return ErrNotFound
	case e.Status == http.StatusNotFound && e.Message == "The token was not found.":
		return ErrTokenNotFound
	case e.Code == "10304" && strings.HasSuffix(call.url, "/accept"):
		return ErrCannotAccept
	}
	if e.Code == "not_found" && call.notFound != nil {
		return call.notFound
	}
	if kind, ok := codeKinds[e.Code]; ok {
		return kind
	}
	if kind, ok := messageKinds[e.Message]; ok {
		return kind
	}
	if e.Status == http.StatusNotFound && call.notFound != nil {
		return call.notFound
	}
	if kind, ok := statusKinds[e.Status]; ok && (e.Status != http.StatusConflict || e.RetryAfter > 0) {
		return kind
	}
	if e.Message == "" {
		return ErrResponse // not from the service, but from a proxy
	}
	return ErrRefused
}

// codeKinds are the kinds of codes.
var codeKinds = map[string]error{
	"10301":                    ErrInvalidReason,
	"10303":                    ErrCannotAccept,
	"10304":                    ErrCannotReject,
	"10305":                    ErrInvalidAction,
	"10306":                    ErrInvalidReason,
	"unauthorized":             ErrUnauthorized,
	"forbidden":                ErrForbidden,
	"invalid_params":           ErrInvalidParams,
	"invalid_payload":          ErrInvalidPayload,
	"not_found":                ErrUnsupported,
	"method_not_allowed":       ErrUnsupported,
	"too_many_requests":        ErrRateLimited,
	"too_many_failed_sign_ins": ErrRateLimited,
	"precondition_failed":      ErrPrecondition,
	"idempotency_key_reused":   ErrKeyReused,
	"idempotency_key_running":  ErrInProgress,
	"webhook_busy":             ErrInProgress,
	"too_many_webhooks":        ErrRefused,
}

// messageKinds are the kinds of the messages of bodies {"message": ...}, which have
// no code.
var messageKinds = map[string]error{
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

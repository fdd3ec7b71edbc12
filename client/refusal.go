package client

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// errorBody is the body of an error in either form: coded, or flat.
type errorBody struct {
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Message string `json:"message"`
}

// refusal is the error of an answer whose status is not 200.
func (c *Client) refusal(call *call, a answer) *Error {
	e := &Error{
		Op: c.clean(call.op), Status: a.status, RequestID: a.requestID, RetryAfter: c.retryAfter(a.header),
	}
	var body errorBody
	known := isJSON(a.header) && json.Unmarshal(a.body, &body) == nil
	if known && body.Error != nil {
		e.Code, e.Message = c.clean(body.Error.Code), c.clean(body.Error.Message)
	} else if known {
		e.Message = c.clean(body.Message)
	}
	e.Kind = kindOf(call, e)
	if e.Message == "" {
		e.Message = c.clean(e.Kind.Error() + elsewhere(a))
	}
	return e
}

// elsewhere says where a redirect leads, which is not followed.
func elsewhere(a answer) string {
	to, err := url.Parse(a.header.Get("Location"))
	if a.status/100 != 3 || err != nil || to.Host == "" {
		return ""
	}
	return ": a redirect to " + to.Scheme + "://" + to.Host
}

// kindOf tells the kind of an error by what the service says, which is in one
// of two sets of codes (decision 5), and where it says nothing known by the
// status.
func kindOf(call *call, e *Error) error {
	switch e.Status / 100 {
	case 2, 3:
		return ErrResponse
	case 5:
		return kindOfFault(e.Status)
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
	if kind := kindOfNumber(call, e); kind != nil {
		return kind
	}
	if e.Status == http.StatusNotFound && call.missing != nil {
		return call.missing
	}
	if kind, ok := statusKinds[e.Status]; ok {
		return kind
	}
	if e.Message == "" {
		return ErrResponse // of something else on the way
	}
	return ErrRefused
}

func kindOfFault(status int) error {
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ErrUnavailable
	}
	return ErrInternal
}

// kindOfNumber tells the kind by a published code alone, where the message is
// none that we know: in another language, say. 10301 and 10304 stand for two
// things each.
func kindOfNumber(call *call, e *Error) error {
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

// wordKinds are the codes that are words.
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

// messageKinds are the published messages. They tell apart what shares a code,
// and are all that a flat body has.
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

// statusKinds are the statuses that tell the kind alone.
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

package web

import (
	"cmp"
	"errors"
	"maps"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web/ratelimit"
)

// MessageBody is the error body {"message": ...}.
type MessageBody struct {
	Message string `json:"message"`
}

// CodedBody is the error body {"error": {"code": ..., "message": ...}}.
type CodedBody struct {
	Error CodedError `json:"error"`
}

// CodedError is the content of a CodedBody.
type CodedError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// NewCodedBody returns the body with a code and a message.
func NewCodedBody(code, message string) CodedBody {
	return CodedBody{Error: CodedError{Code: code, Message: message}}
}

// CodedRefusal is an error with the response that it gets.
type CodedRefusal struct {
	Err     error
	Status  int
	Code    string
	Message string
}

// CodedRefusals are the errors of some routes alone. The first match counts.
type CodedRefusals []CodedRefusal

// Encode returns the response to an error, whose body is a CodedBody. ok is false if
// the error is none of the refusals.
func (all CodedRefusals) Encode(err error) (status int, body any, ok bool) {
	for _, refusal := range all {
		if errors.Is(err, refusal.Err) {
			return refusal.Status, NewCodedBody(refusal.Code, refusal.Message), true
		}
	}
	return 0, nil, false
}

// meaning is how an error that means the same in every group is sent.
type meaning struct {
	status        int
	code, message string // of a CodedBody; the codes are those of decision 5
	plain         string // of a MessageBody; empty: the text of the status
}

// meanings are those of errors without details. The first match counts.
var meanings = []struct {
	err error
	meaning
}{
	{order.ErrTooManyIdempotencyKeys, meaning{http.StatusTooManyRequests, "too_many_requests", "Too many idempotency keys in a day.", tooMany}},
	{ErrUnauthorized, meaning{http.StatusUnauthorized, "unauthorized", "The token is missing or not valid.", ""}},
	{errOperatorToken, meaning{http.StatusForbidden, "forbidden", "This is an operator's token; use a token of the merchant.", ""}},
	{errMerchantToken, meaning{http.StatusForbidden, "forbidden", "This is a merchant's token; use an operator's token.", ""}},
	{ErrForbidden, meaning{http.StatusForbidden, "forbidden", "The token does not allow this.", ""}},
	{ErrSuspended, meaning{http.StatusForbidden, "merchant_suspended", suspended, suspended}},
	{ErrRouteNotFound, meaning{http.StatusNotFound, "not_found", "Nothing is served at this path.", ""}},
	{strict.ErrInvalidPayload, meaning{http.StatusBadRequest, "invalid_payload", invalidPayload, invalidPayload}},
	{ErrContentEncoding, meaning{http.StatusUnsupportedMediaType, "unsupported_encoding", "The body must be plain or compressed with gzip.", ""}},
	{order.ErrInvalidRange, meaning{http.StatusBadRequest, "invalid_params", order.ErrInvalidRange.Error(), invalidParams}},
	{order.ErrPreconditionFailed, meaning{http.StatusPreconditionFailed, "precondition_failed", changed, changed}},
	{order.ErrIdempotencyKeyReused, meaning{http.StatusUnprocessableEntity, "idempotency_key_reused", keyReused, keyReused}},
	{order.ErrIdempotencyKeyInUse, meaning{http.StatusConflict, "idempotency_key_running", keyInUse, keyInUse}},
	{order.ErrUnavailable, meaning{http.StatusServiceUnavailable, "unavailable", "The service cannot answer for now.", ""}},
}

// Messages of both forms of bodies.
const (
	suspended      = "The merchant is suspended."
	invalidPayload = "Invalid payload."
	invalidParams  = "Invalid request params."
	tooMany        = "Too many requests."
	changed        = "The order has changed."
	keyReused      = "The Idempotency-Key was used for another request."
	keyInUse       = "The first request with this Idempotency-Key is still running."
)

// limitMeanings are those of a *ratelimit.Error.
var limitMeanings = map[ratelimit.Limit]meaning{
	ratelimit.Rate:     {http.StatusTooManyRequests, "too_many_requests", "Too many requests in a short time.", tooMany},
	ratelimit.InFlight: {http.StatusTooManyRequests, "too_many_requests", "Too many requests of this token at once.", tooMany},
	ratelimit.SignIns:  {http.StatusTooManyRequests, "too_many_failed_sign_ins", "Too many requests from this address without a valid token.", tooMany},
}

// meaningOf returns the meaning of an error: that of a failure of the service for an
// error that is not listed.
func meaningOf(err error) meaning {
	var limit *ratelimit.Error
	var method *MethodError
	var param *strict.ParamError
	switch {
	case errors.As(err, &limit):
		return limitMeanings[limit.Limit]
	case errors.As(err, &method):
		return meaning{http.StatusMethodNotAllowed, "method_not_allowed", "This path does not take that method.", ""}
	case errors.As(err, &param):
		return meaning{http.StatusBadRequest, "invalid_params", param.Error(), invalidParams}
	}
	for _, row := range meanings {
		if errors.Is(err, row.err) {
			return row.meaning
		}
	}
	return meaning{http.StatusInternalServerError, "internal", "The service failed to answer.", ""}
}

// Status returns the HTTP status of an error that means the same in every group,
// and 500 for every other error.
func Status(err error) int { return meaningOf(err).status }

// EncodeMessage is the ErrorEncoder with MessageBody for errors that mean the same
// in every group. An encoder of a group checks the group's errors first.
func EncodeMessage(_ *http.Request, err error) (int, any) {
	m := meaningOf(err)
	return m.status, MessageBody{Message: cmp.Or(m.plain, http.StatusText(m.status))}
}

// EncodeCoded is EncodeMessage with CodedBody.
func EncodeCoded(_ *http.Request, err error) (int, any) {
	m := meaningOf(err)
	return m.status, NewCodedBody(m.code, m.message)
}

// Page is the body of a response that people read in a browser. An ErrorEncoder
// returns it where people are the readers.
type Page struct {
	ContentType string
	Header      http.Header // further fields; nil: none
	Body        []byte
}

// Write sends the page with a status. Nobody stores it, unless its header says so.
func (p Page) Write(w http.ResponseWriter, status int) {
	h := w.Header()
	setJSONHeaders(h, p.Body)
	h.Set("Content-Type", p.ContentType)
	maps.Copy(h, p.Header)
	w.WriteHeader(status)
	_, _ = w.Write(p.Body) // an error means that the client disconnected
}

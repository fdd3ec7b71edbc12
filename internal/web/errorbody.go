package web

import (
	"errors"
	"net/http"

	"merchantorders/internal/order"
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

// EncodeMessage is the ErrorEncoder with MessageBody for errors that mean the same
// in every group. An encoder of a group checks the group's errors first.
func EncodeMessage(_ *http.Request, err error) (int, any) {
	status := Status(err)
	switch {
	case errors.Is(err, ErrInvalidPayload):
		return status, MessageBody{Message: "Invalid payload."}
	case errors.Is(err, ErrSuspended):
		return status, MessageBody{Message: suspended}
	case status == http.StatusTooManyRequests:
		return status, MessageBody{Message: "Too many requests."}
	case status == http.StatusBadRequest:
		return status, MessageBody{Message: "Invalid request params."}
	}
	if _, message, ok := conditionalError(err); ok {
		return status, MessageBody{Message: message}
	}
	return status, MessageBody{Message: http.StatusText(status)}
}

// suspended is the message of ErrSuspended.
const suspended = "The merchant is suspended."

// EncodeCoded is EncodeMessage with CodedBody. The codes are those of decision 5.
func EncodeCoded(_ *http.Request, err error) (int, any) {
	status := Status(err)
	code, message := "internal", "The service failed to answer."
	switch status {
	case http.StatusUnauthorized:
		code, message = "unauthorized", "The token is missing or not valid."
	case http.StatusForbidden:
		code, message = "forbidden", "The token does not allow this."
		if errors.Is(err, ErrSuspended) {
			code, message = "merchant_suspended", suspended
		}
	case http.StatusNotFound:
		code, message = "not_found", "Nothing is served at this path."
	case http.StatusMethodNotAllowed:
		code, message = "method_not_allowed", "This path does not take that method."
	case http.StatusBadRequest:
		code, message = badRequest(err)
	case http.StatusTooManyRequests:
		code, message = tooManyRequests(err)
	case http.StatusServiceUnavailable:
		code, message = "unavailable", "The service cannot answer for now."
	default:
		if c, m, ok := conditionalError(err); ok {
			code, message = c, m
		}
	}
	return status, NewCodedBody(code, message)
}

// tooManyRequests returns code and message of a 429.
func tooManyRequests(err error) (code, message string) {
	if errors.Is(err, order.ErrTooManyIdempotencyKeys) {
		return "too_many_requests", "Too many idempotency keys in a day."
	}
	var limit *ratelimit.Error
	if errors.As(err, &limit) {
		switch limit.Limit {
		case ratelimit.InFlight:
			return "too_many_requests", "Too many requests of this token at once."
		case ratelimit.SignIns:
			return "too_many_failed_sign_ins", "Too many requests from this address without a valid token."
		}
	}
	return "too_many_requests", "Too many requests in a short time."
}

// conditionalError returns code and message of an error of If-Match or
// Idempotency-Key.
func conditionalError(err error) (code, message string, ok bool) {
	switch {
	case errors.Is(err, order.ErrPreconditionFailed):
		return "precondition_failed", "The order has changed.", true
	case errors.Is(err, order.ErrIdempotencyKeyReused):
		return "idempotency_key_reused", "The Idempotency-Key was used for another request.", true
	case errors.Is(err, order.ErrIdempotencyKeyInUse):
		return "idempotency_key_running", "The first request with this Idempotency-Key is still running.", true
	}
	return "", "", false
}

// badRequest returns code and message of a 400.
func badRequest(err error) (code, message string) {
	var param *ParamError
	switch {
	case errors.As(err, &param):
		return "invalid_params", param.Error()
	case errors.Is(err, order.ErrInvalidRange):
		return "invalid_params", order.ErrInvalidRange.Error()
	}
	return "invalid_payload", "Invalid payload."
}

// maxEcho is how many characters of a client's text a response repeats.
const maxEcho = 256

// Echo returns a text that the client sent in a form that a response may repeat:
// invalid UTF-8 becomes U+FFFD, and a long text is cut.
func Echo(text string) string {
	characters := make([]rune, 0, min(len(text), maxEcho))
	for _, r := range text {
		if len(characters) == maxEcho {
			break
		}
		characters = append(characters, r)
	}
	return string(characters)
}

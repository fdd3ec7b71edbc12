package web

import (
	"errors"
	"net/http"

	"merchantorders/internal/order"
)

// Flat is the error body {"message": ...}.
type MessageBody struct {
	Message string `json:"message"`
}

// Coded is the error body {"error": {"code": ..., "message": ...}}.
type ErrorBody struct {
	Error CodedError `json:"error"`
}

// CodedMessage is what a Coded body holds.
type CodedError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// NewCoded returns the coded body with a code and a text.
func NewErrorBody(code, message string) ErrorBody {
	return ErrorBody{Error: CodedError{Code: code, Message: message}}
}

// FlatForm is the ErrorForm of the errors that mean the same in every section,
// with flat bodies. A section with errors of its own looks at those first.
func EncodeMessage(_ *http.Request, err error) (int, any) {
	status := Status(err)
	switch {
	case errors.Is(err, ErrInvalidPayload):
		return status, MessageBody{Message: "Invalid payload."}
	case status == http.StatusTooManyRequests:
		return status, MessageBody{Message: "Too many requests."}
	case status == http.StatusBadRequest:
		return status, MessageBody{Message: "Invalid request params."}
	}
	if _, message, ok := retryWords(err); ok {
		return status, MessageBody{Message: message}
	}
	return status, MessageBody{Message: http.StatusText(status)}
}

// CodedForm is FlatForm with coded bodies. The codes are those of decision 5.
func EncodeCoded(_ *http.Request, err error) (int, any) {
	status := Status(err)
	code, message := "internal", "The service failed to answer."
	switch status {
	case http.StatusUnauthorized:
		code, message = "unauthorized", "The token is missing or not valid."
	case http.StatusForbidden:
		code, message = "forbidden", "The token does not allow this."
	case http.StatusNotFound:
		code, message = "not_found", "Nothing is served at this path."
	case http.StatusMethodNotAllowed:
		code, message = "method_not_allowed", "This path does not take that method."
	case http.StatusBadRequest:
		code, message = badRequest(err)
	case http.StatusTooManyRequests:
		code, message = "too_many_requests", "Too many requests in a short time."
	case http.StatusServiceUnavailable:
		code, message = "unavailable", "The service cannot answer for now."
	default:
		if word, text, ok := retryWords(err); ok {
			code, message = word, text
		}
	}
	return status, NewErrorBody(code, message)
}

// retryWords returns code and text of an error of If-Match or Idempotency-Key.
func retryWords(err error) (code, message string, ok bool) {
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

// badRequest returns code and text of an error in what the client sent.
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

// maxEcho is the longest text, in letters, that an answer repeats.
const maxEcho = 256

// Echo returns a text that the client sent as an answer may repeat it: what is
// no valid UTF-8 becomes U+FFFD, and a long text is cut.
func Echo(text string) string {
	letters := make([]rune, 0, min(len(text), maxEcho))
	for _, letter := range text {
		if len(letters) == maxEcho {
			break
		}
		letters = append(letters, letter)
	}
	return string(letters)
}

package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"maps"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/web/idempotency"
)

// ChangeHandler parses a request for a change. It does not make the change: the
// router does, with the Idempotency-Key of the request. The request of an operator
// has the MerchantID order.OperatorKeys.
type ChangeHandler func(r *Request) (Change, error)

// Change is a parsed request for a change. NewChange makes it.
type Change struct {
	run func(context.Context, attempt) (Response, error)
}

// NewChange returns a change with the result T. apply passes the options to the
// service that makes the change; it is called at most once. respond returns the
// response. If the request has an idempotency key, respond also runs inside the
// transaction, possibly more than once: it must have no effects, and return the same
// response for the same result.
func NewChange[T any](apply func(context.Context, order.ChangeOptions[T]) (T, error), respond func(T) Response) Change {
	return NewSecretChange(apply, respond, respond)
}

// NewSecretChange is NewChange for a response with a secret, which must not be
// stored: a repetition of the request gets the response that recorded returns.
func NewSecretChange[T any](apply func(context.Context, order.ChangeOptions[T]) (T, error), respond, recorded func(T) Response) Change {
	return Change{run: func(ctx context.Context, attempt attempt) (Response, error) {
		result, err := apply(ctx, order.ChangeOptions[T]{
			Source: Source(attempt.request.Request), Idempotency: attempt.idempotency(),
			Response: func(result T, refusal error) ([]byte, error) {
				if refusal != nil {
					return attempt.recordRefusal(refusal)
				}
				return encodeRecord(recorded(result))
			},
		})
		if err != nil {
			return Response{}, err
		}
		return respond(result), nil
	}}
}

// Response is a response with a JSON body.
type Response struct {
	Status int
	Header http.Header // nil: none beside those that every JSON response has
	Body   any         // encoded as JSON
}

// Refuser knows the idempotency records. order.Service implements it.
type Refuser interface {
	Idempotency(merchantID int64, key string, request [sha256.Size]byte) order.Idempotency
	// Refuse returns the error of a request that is refused because of its form, before
	// any change: an error of the idempotency key comes first.
	Refuse(ctx context.Context, merchantID int64, options order.WriteOptions, refusal error) error
}

// attempt is a request with everything that its idempotency needs.
type attempt struct {
	request *Request
	refuser Refuser
	encode  ErrorEncoder
	key     string // empty: none
	digest  [sha256.Size]byte
}

// idempotency returns the idempotency of the change.
func (a attempt) idempotency() order.Idempotency {
	return a.refuser.Idempotency(a.request.MerchantID, a.key, a.digest)
}

// options returns the idempotency of the change as that of a write of an order.
func (a attempt) options() order.WriteOptions {
	return order.WriteOptions{
		Source: Source(a.request.Request), IdempotencyKey: a.key, RequestDigest: a.digest,
		Operator: a.request.MerchantID == order.OperatorKeys,
	}
}

// recordRefusal returns the recorded form of the response to a refusal; nil if it is
// not to be recorded.
func (a attempt) recordRefusal(refusal error) ([]byte, error) {
	if !recordable(a.request, a.encode, refusal) {
		return nil, nil
	}
	return encodeRecord(errorResponse(a.request.Request, a.encode, refusal))
}

// serveChange returns the handler of a change route.
func serveChange(config RouterConfig, parse ChangeHandler, encode ErrorEncoder) merchantHandler {
	return func(w http.ResponseWriter, r *Request) error {
		key, err := IdempotencyKey(r.Request)
		if err != nil {
			return err
		}
		body := requestBodyOf(r.Request)
		if body != nil && key != "" {
			body.digest = sha256.New()
		}
		change, err := parse(r)
		// The handler has read the body by now.
		attempt := attempt{request: r, refuser: config.Refuser, encode: encode, key: key}
		if key != "" {
			attempt.digest = idempotency.Digest(r.Request, bodyDigest(body))
		}
		var response Response
		switch {
		case err == nil:
			response, err = change.run(r.Context(), attempt)
		case key != "" && recordable(r, encode, err):
			err = config.Refuser.Refuse(r.Context(), r.MerchantID, attempt.options(), err)
		}
		var replay *order.ReplayError
		switch {
		case errors.As(err, &replay):
			return writeReplay(w, replay.Response)
		case err != nil:
			return err
		}
		return writeResponse(w, response)
	}
}

// IdempotencyKey returns the Idempotency-Key of a request, empty if it has none. A
// malformed one is a *ParamError.
func IdempotencyKey(r *http.Request) (string, error) {
	key, err := idempotency.ParseKey(r.Header)
	if err != nil {
		return "", &ParamError{Name: idempotency.KeyHeader, Problem: err.Error()}
	}
	return key, nil
}

// bodyDigest returns the hash of what was read of a body; nil if there is no body.
func bodyDigest(body *requestBody) hash.Hash {
	if body == nil {
		return nil
	}
	return body.digest
}

// recordable reports whether the response to a refusal is recorded. The response
// to an incomplete body is not: what the client requested is unknown.
func recordable(r *Request, encode ErrorEncoder, refusal error) bool {
	if body := requestBodyOf(r.Request); body != nil && body.incomplete {
		return false
	}
	status, _ := encode(r.Request, refusal)
	return idempotency.Recordable(status)
}

// encodeRecord encodes a response for its idempotency record.
func encodeRecord(response Response) ([]byte, error) {
	record := idempotency.Record{Status: response.Status, Header: make(http.Header)}
	err := withJSON(response.Body, func(body []byte) {
		maps.Copy(record.Header, response.Header)
		setJSONHeaders(record.Header, body)
		record.Body = bytes.Clone(body)
	})
	if err != nil {
		return nil, err
	}
	return record.Encode()
}

// writeReplay sends a recorded response again.
func writeReplay(w http.ResponseWriter, stored []byte) error {
	record, err := idempotency.Decode(stored)
	if err != nil {
		return err
	}
	maps.Copy(w.Header(), record.Header)
	w.Header().Set(idempotency.ReplayedHeader, "true")
	w.WriteHeader(record.Status)
	_, _ = w.Write(record.Body) // an error means that the client disconnected
	return nil
}

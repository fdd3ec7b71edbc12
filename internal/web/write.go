package web

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"maps"
	"net/http"

	"merchantorders/internal/etag"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web/idempotency"
)

// WriteHandler serves a request that changes something. It parses the request, calls the
// service with the Caller and the Options of the request, and returns the response. It
// reads the body before it calls Options.
type WriteHandler func(r *Request) (Response, error)

// Response is a response with a JSON body.
type Response struct {
	Status int
	Header http.Header // nil: none beside those that every JSON response has
	Body   any         // encoded as JSON
	// Order is the order that the request has changed, for the log and, if it has a
	// revision, for the ETag; zero: none.
	Order order.LockedOrder
}

const ifMatch = "If-Match"

// write is the change that a request asks for: its key, its precondition, and how its
// response is recorded.
type write struct {
	key     string // empty: none
	digest  func() [sha256.Size]byte
	matches func(order.LockedOrder) bool // nil: any version
	used    bool                         // Options was called: the change is made
	encode  ErrorEncoder
	config  RouterConfig
}

// View returns the response to a change with the result T. It has no effects and returns
// the same response for the same result: if the request has an idempotency key, it runs
// inside the transaction, possibly more than once, and its response is recorded. A view
// leaves out a secret, which must not be stored; the first response alone has it.
type View[T any] func(T) Response

// Options returns the options of the change with the result T that a request asks for.
func Options[T any](r *Request, respond View[T]) order.Options[T] {
	w := r.write
	w.used = true
	options := order.Options[T]{IfMatch: w.matches}
	if w.key == "" {
		return options
	}
	options.Key = w.orderKey()
	options.Record = func(result T, refusal error) ([]byte, error) {
		switch {
		case refusal == nil:
			return encodeRecord(w.withTag(r, respond(result)))
		case !w.recordable(r, refusal):
			return nil, nil
		}
		return encodeRecord(errorResponse(r.Request, w.encode, refusal))
	}
	return options
}

// orderKey returns the key of the request.
func (w *write) orderKey() order.Key { return order.Key{Text: w.key, Digest: w.digest()} }

// withTag returns a response with the entity tag of its order.
func (w *write) withTag(r *Request, response Response) Response {
	if o := response.Order; o.Revision != 0 {
		response.Header = maps.Clone(response.Header)
		if response.Header == nil {
			response.Header = make(http.Header)
		}
		response.Header.Set("ETag", entityTag(etag.OfOrder(o.LegacyID, o.Revision), r.viewVersion(w.config.ViewVersion)))
	}
	return response
}

// serveWrite returns the handler of a write route.
func serveWrite(config RouterConfig, handle WriteHandler, encode ErrorEncoder) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		response, err := makeWrite(config, handle, encode, r)
		if replay, ok := errors.AsType[*order.ReplayError](err); ok {
			return writeReplay(w, replay.Response)
		}
		if err != nil {
			return err
		}
		if o := response.Order; o.Reference != "" {
			r.LogOrder(o.Reference, o.LegacyID)
		}
		return writeResponse(w, r.write.withTag(r, response))
	}
}

// errKeyIgnored is the error of a handler that has not called Options.
var errKeyIgnored = errors.New("the handler has ignored the Idempotency-Key")

// makeWrite runs the handler of a write route.
func makeWrite(config RouterConfig, handle WriteHandler, encode ErrorEncoder, r *Request) (Response, error) {
	key, err := IdempotencyKey(r)
	if err != nil {
		return Response{}, err
	}
	body := requestBodyOf(r.Request)
	if body != nil && key != "" {
		body.digest = sha256.New()
	}
	r.write = &write{key: key, encode: encode, config: config, digest: func() [sha256.Size]byte {
		return idempotency.Digest(r.Request, bodyDigest(body))
	}}
	tags, err := etag.Parse(r.Header.Values(ifMatch), ifMatch)
	if tags != nil {
		r.write.matches = tags.MatchOrder
	}
	var response Response
	if err == nil {
		response, err = handle(r)
	}
	switch {
	case key == "" || r.write.used:
	case err == nil:
		err = errKeyIgnored
	case r.write.recordable(r, err):
		err = config.Refuse(r.Context(), r.Caller, r.write.orderKey(), err)
	}
	return response, err
}

// IdempotencyKey returns the Idempotency-Key of a request, empty if it has none. A
// malformed one is a *strict.ParamError.
func IdempotencyKey(r *Request) (string, error) {
	key, err := idempotency.ParseKey(r.Header)
	if err != nil {
		return "", &strict.ParamError{Name: idempotency.KeyHeader, Problem: err.Error()}
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
func (w *write) recordable(r *Request, refusal error) bool {
	if body := requestBodyOf(r.Request); body != nil && body.incomplete {
		return false
	}
	status, _ := w.encode(r.Request, refusal)
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

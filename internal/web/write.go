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

// WriteHandler parses a request for a change of one order. It does not make the
// change: the router does, with the If-Match and the Idempotency-Key of the
// request.
type WriteHandler func(r *Request) (Write, error)

// Write is a parsed request for a change of one order.
type Write struct {
	// Apply passes the options to a method of order.Service that makes the change.
	// It is called exactly once.
	Apply func(context.Context, order.WriteOptions) (order.WriteResult, error)
	// Respond returns the response to a change. The router adds the ETag. If the
	// request has an idempotency key, Respond also runs inside the transaction,
	// possibly more than once: it must have no effects, and return the same
	// response for the same result.
	Respond func(order.WriteResult) Response
}

// Response is a response with a JSON body.
type Response struct {
	Status int
	Header http.Header // nil: none beside those that every JSON response has
	Body   any         // encoded as JSON
}

// Refuser returns the error of requests that are refused because of their form,
// before Apply: an error of the idempotency key comes first. order.Service
// implements it.
type Refuser interface {
	Refuse(ctx context.Context, merchantID int64, options order.WriteOptions, refusal error) error
}

const ifMatch = "If-Match"

// serveWrite returns the handler of a write route.
func serveWrite(config RouterConfig, parse WriteHandler, encode ErrorEncoder) merchantHandler {
	// handle adds the ETag to the responses of parse.
	handle := func(r *Request) (Write, error) {
		write, err := parse(r)
		return write.withTag(config.ViewVersion), err
	}
	return func(w http.ResponseWriter, r *Request) error {
		key, err := idempotency.ParseKey(r.Header)
		if err != nil {
			return &ParamError{Name: idempotency.KeyHeader, Problem: err.Error()}
		}
		body := requestBodyOf(r.Request)
		if body != nil && key != "" {
			body.digest = sha256.New()
		}
		tags, err := ParseEntityTags(r.Header, ifMatch)
		var write Write
		if err == nil {
			write, err = handle(r)
		}
		options := writeOptions(r, key, tags, write, encode)
		var result order.WriteResult
		switch {
		case err == nil:
			result, err = write.Apply(r.Context(), options)
		case key != "" && recordable(r, encode, err):
			err = config.Refuser.Refuse(r.Context(), r.MerchantID, options, err)
		}
		var replay *order.ReplayError
		switch {
		case errors.As(err, &replay):
			return writeReplay(w, replay.Response)
		case err != nil:
			return err
		}
		LogOrder(r.Request, result.Reference, result.LegacyID)
		return writeResponse(w, write.Respond(result))
	}
}

// writeOptions returns what order.Service must know of a write request beside the
// change itself. The handler has read the body by now.
func writeOptions(r *Request, key string, tags *EntityTags, write Write, encode ErrorEncoder) order.WriteOptions {
	options := order.WriteOptions{Source: Source(r.Request), IdempotencyKey: key}
	if tags != nil {
		options.IfMatch = func(o order.LockedOrder) bool { return tags.MatchOwn(OrderTag(o.LegacyID, o.Revision)) }
	}
	if key == "" {
		return options
	}
	var bodyDigest hash.Hash
	if body := requestBodyOf(r.Request); body != nil {
		bodyDigest = body.digest
	}
	options.RequestDigest = idempotency.Digest(r.Request, bodyDigest)
	options.Response = func(result order.WriteResult, refusal error) ([]byte, error) {
		switch {
		case refusal == nil:
			return encodeRecord(write.Respond(result))
		case recordable(r, encode, refusal):
			return encodeRecord(errorResponse(r.Request, encode, refusal))
		}
		return nil, nil
	}
	return options
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

// withTag returns the write with the order's new ETag in its response.
func (w Write) withTag(viewVersion string) Write {
	respond := w.Respond
	w.Respond = func(result order.WriteResult) Response {
		response := respond(result)
		if response.Header == nil {
			response.Header = make(http.Header)
		}
		response.Header.Set("ETag", entityTag(OrderTag(result.LegacyID, result.Revision), viewVersion))
		return response
	}
	return w
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

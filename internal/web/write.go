package web

import (
	"context"
	"net/http"

	"merchantorders/internal/order"
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

const ifMatch = "If-Match"

// writeChange returns the ChangeHandler that makes the writes of a WriteHandler.
func writeChange(config RouterConfig, parse WriteHandler) ChangeHandler {
	return func(r *Request) (Change, error) {
		tags, err := ParseEntityTags(r.Header, ifMatch)
		if err != nil {
			return Change{}, err
		}
		write, err := parse(r)
		if err != nil {
			return Change{}, err
		}
		write = write.withTag(r.viewVersion(config.ViewVersion))
		return Change{run: func(ctx context.Context, attempt attempt) (Response, error) {
			result, err := write.Apply(ctx, writeOptions(attempt, tags, write))
			if err != nil {
				return Response{}, err
			}
			LogOrder(r.Request, result.Reference, result.LegacyID)
			return write.Respond(result), nil
		}}, nil
	}
}

// writeOptions returns what order.Service must know of a write request beside the
// change itself.
func writeOptions(attempt attempt, tags *EntityTags, write Write) order.WriteOptions {
	options := attempt.options()
	if tags != nil {
		options.IfMatch = func(o order.LockedOrder) bool { return tags.MatchOwn(OrderTag(o.LegacyID, o.Revision)) }
	}
	options.Response = func(result order.WriteResult, refusal error) ([]byte, error) {
		if refusal != nil {
			return attempt.recordRefusal(refusal)
		}
		return encodeRecord(write.Respond(result))
	}
	return options
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

package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"merchantorders/internal/order"
)

// ErrOverloaded is the error of a request that would leave no room for probes.
var ErrOverloaded = fmt.Errorf("%w: too many requests at once; see --max-connections", order.ErrUnavailable)

// ErrStopping says that the server is about to stop. It is also the cause of the end of
// a Stream's context.
var ErrStopping = errors.New("the server is stopping")

type overloadedKey struct{}

// MarkOverloaded returns the request with the mark that the server has no room for it:
// Observe refuses it.
func MarkOverloaded(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), overloadedKey{}, true))
}

func isOverloaded(r *http.Request) bool { return r.Context().Value(overloadedKey{}) != nil }

type identifiedKey struct{}

// OnIdentified returns the request with a function that is called when it is known which
// merchant sends it; 0: an operator. It reports whether the merchant may have one request
// more at once, and may be called more than once.
func OnIdentified(r *http.Request, identified func(merchantID int64) bool) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), identifiedKey{}, identified))
}

// Identified calls the function of OnIdentified.
func Identified(r *http.Request, merchantID int64) bool {
	identified, ok := r.Context().Value(identifiedKey{}).(func(int64) bool)
	return !ok || identified(merchantID)
}

// errStopped is the error of a stream that the stop has ended before its response began.
var errStopped = fmt.Errorf("%w: %w", order.ErrUnavailable, ErrStopping)

type stoppingKey struct{}

// IsStopping reports whether the server is about to stop.
func IsStopping(ctx context.Context) bool {
	stopping, ok := ctx.Value(stoppingKey{}).(context.Context)
	return ok && stopping.Err() != nil
}

// Outlasting returns a context for work that goes on after the request with a context.
func Outlasting(ctx context.Context) context.Context {
	return context.WithValue(context.Background(), stoppingKey{}, ctx.Value(stoppingKey{}))
}

// WithStopping returns a context for requests, whose streams end when stopping ends.
func WithStopping(ctx, stopping context.Context) context.Context {
	return context.WithValue(ctx, stoppingKey{}, stopping)
}

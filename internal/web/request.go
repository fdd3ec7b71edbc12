package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web/ratelimit"
)

// Request is a request with who sends it. The router makes it.
type Request struct {
	*http.Request
	// Caller is who sends the request. On a public route it has the request id and the
	// address only.
	Caller order.Caller
	// DataVersion is that of the caller's merchant, read after the request arrived.
	DataVersion order.DataVersion
	// Session is the sign-in of the person who sends the request; zero: a program does.
	Session token.Session

	address     netip.Addr // of the client; zero: not known
	nameNonce   int64      // see token.Grant
	limits      *ratelimit.Limiter
	credentials Credentials
	leave       func() // nil after Leave
	log         *requestLogEntry
	params      []string // that the route takes; nil: any
	write       *write   // the change that the request asks for; nil: a read
}

// newRequest returns a request before its authentication.
func (rt *Router) newRequest(r *http.Request) *Request {
	request := &Request{Request: r, address: rt.config.Proxies.Client(r), limits: rt.config.Limits, log: logEntryOf(r)}
	request.Caller.RequestID = request.log.id
	if request.address.IsValid() {
		request.Caller.Address = request.address.String()
	}
	return request
}

// identify makes a grant, and the session that has it, those of the request. It returns an
// error if the merchant has too many requests at once.
func (r *Request) identify(session token.Session, grant token.Grant) error {
	r.Session, r.DataVersion, r.nameNonce = session, grant.DataVersion, grant.NameNonce
	r.Caller.Actor, r.Caller.MerchantID = order.ActorMerchant, grant.MerchantID
	if grant.Operator() {
		r.Caller.Actor = order.ActorOperator
	}
	r.Caller.TokenID, r.Caller.Scopes = grant.ID, grant.Scopes
	r.log.caller = r.Caller
	return r.admit(grant.MerchantID)
}

// admit returns an error if a merchant has too many requests at once, as the server counts
// them. The rest of the body is not waited for then.
func (r *Request) admit(merchantID int64) error {
	if Identified(r.Request, merchantID) {
		return nil
	}
	requestBodyOf(r.Request).abandon()
	return r.limits.TooMany()
}

// Identify is for a handler of a public route that signs somebody in with a token.
func (r *Request) Identify(grant token.Grant) error { return r.identify(token.Session{}, grant) }

// EnterLink is for a handler of a public route that serves a file of a merchant to those who
// have a link. It counts the request in the limits of the link and of the merchant.
func (r *Request) EnterLink(link string, merchantID int64) (err error) {
	if err := r.admit(merchantID); err != nil {
		return err
	}
	r.leave, err = r.limits.EnterLink(r.Context(), link, merchantID)
	return err
}

// WithContext returns the request with another context.
func (r *Request) WithContext(ctx context.Context) *Request {
	other := *r
	other.Request = r.Request.WithContext(ctx)
	return &other
}

// Address returns the address of the client, the zero one if it is not known.
func (r *Request) Address() netip.Addr { return r.address }

// viewVersion returns the version of what bodies for the merchant show beside its data:
// that of the service, and the name of the merchant, if that was ever changed.
func (r *Request) viewVersion(service string) string {
	if r.nameNonce == 0 {
		return service
	}
	return service + "-" + strconv.FormatInt(r.nameNonce, 36)
}

// Leave stops counting the request among those of its token in flight. A handler
// that waits calls it, if there is a limit of its own on how many wait.
func (r *Request) Leave() {
	if r.leave != nil {
		r.leave()
		r.leave = nil
	}
}

// Reauthenticate returns the error of a request without a valid token if the token
// is not valid any more, and ErrSuspended if the merchant is suspended. A handler that
// has waited calls it before it responds. h is the header of the response.
func (r *Request) Reauthenticate(h http.Header) error {
	_, grant, err := r.credentials.Authenticate(h, r)
	if err == nil && grant.Suspended {
		err = ErrSuspended
	}
	return err
}

// LogAttrs returns who sends the request, for log lines of the changes that it makes.
func (r *Request) LogAttrs() []slog.Attr {
	by := r.Caller.Actor.String()
	if r.Session.TokenID != 0 {
		by = "console"
	}
	return []slog.Attr{slog.String("by", by), slog.Int64("token", r.Caller.TokenID), slog.String("request", r.Caller.RequestID)}
}

// LogOrder adds to the log entry of the request the order that it has read or changed.
func (r *Request) LogOrder(reference string, legacyID int64) {
	r.log.order, r.log.orderID = reference, legacyID
}

// LogError adds to the log entry of the request, which is served, what has failed beside
// it.
func (r *Request) LogError(err error) { r.log.err = err }

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

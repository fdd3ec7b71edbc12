// Package ratelimit bounds how many requests a token and a merchant may send in a second and
// have in flight at once, how often the people of a merchant may sign in, and how often an
// address may fail to authenticate. The limits hold for this process only.
package ratelimit

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"merchantorders/internal/lru"
	"merchantorders/internal/order"
)

const (
	// burstSeconds is the window of the token limit: an idle token may send the
	// requests of this many seconds at once.
	burstSeconds = 2
	// retryAfterSeconds is when a refused client may try again.
	retryAfterSeconds = 1
	// ofMerchantAsToken is by how much the limits of a merchant, which can have any number of
	// tokens, sessions and links, are higher than those of a token.
	ofMerchantAsToken = 4
	// exportCost is as how many requests an export counts: it may read all orders.
	exportCost = 10
	// linkPlaces is how many requests of one link are in flight: a browser that shows a file
	// asks for its parts.
	linkPlaces = 8
	// maxBuckets bounds the memory for the buckets of each kind, about 3 MB.
	maxBuckets = 10_000
)

// The headers of draft-ietf-httpapi-ratelimit-headers, in the canonical form of
// http.Header.
const (
	limitHeader  = "Ratelimit"
	policyHeader = "Ratelimit-Policy"
)

// Kind is a kind of requests of which fewer are handled at the same time.
type Kind uint8

// The kinds.
const (
	Plain Kind = iota
	Upload
	Export
	numKinds
)

// maxWait is how long a request of a kind waits at most for its turn, before its body is
// read; one that must wait longer is refused. Legacy clients give up at the first error, so
// ten uploads at once must not be one too many (decision 5).
var maxWait = [numKinds]time.Duration{Plain: time.Second, Upload: 5 * time.Second, Export: time.Second}

// ofToken bounds the requests of a token in flight. Those that wait for events leave:
// order.MaxWaiters bounds them.
var ofToken = bounds{requests: 32, ofKind: [numKinds]int64{Upload: 8, Export: 2}, waiting: 64}

// ofMerchant returns the bounds of the requests of a merchant. With order.MaxWaiters they take
// less than a quarter of the connections of a server with many, and an eighth of those of one
// with few.
func ofMerchant(connections int) bounds {
	share := int64(max(connections/16, 2))
	return bounds{
		requests: min(ofMerchantAsToken*ofToken.requests, share), waiting: min(2*ofToken.waiting, share),
		ofKind: [numKinds]int64{Upload: min(3*ofToken.ofKind[Upload], max(share/2, 1)), Export: min(2*ofToken.ofKind[Export], max(share/4, 1))},
	}
}

// Error says that a client sends more requests than a limit allows.
type Error struct {
	Limit         Limit
	policy, state string // values of the headers; empty: none
}

// Limit is what a client has exceeded.
type Limit int

// The limits.
const (
	Rate     Limit = iota // requests of a token or a merchant in a second, and its sign-ins
	InFlight              // requests of a token or a merchant at once, or those of a kind
	SignIns               // failed authentications of an address
	numLimits
)

// String returns the name of the limit in the metrics.
func (l Limit) String() string { return [...]string{"rate", "in_flight", "sign_ins"}[l] }

// Error implements error.
func (e *Error) Error() string {
	return [...]string{"too many requests", "too many requests at once", "too many failed sign-ins"}[e.Limit]
}

// SetHeaders sets the headers of the 429 response.
func (e *Error) SetHeaders(h http.Header) {
	h.Set("Retry-After", strconv.Itoa(retryAfterSeconds))
	if e.policy != "" {
		h.Set(policyHeader, e.policy)
		h.Set(limitHeader, e.state)
	}
}

// Limiter holds the limits. A nil *Limiter has none.
type Limiter struct {
	now     func() time.Time
	refused [numLimits]atomic.Uint64
	byToken *policy // of tokens without a limit of their own
	failed  *Error

	policies  *lru.Made[order.RateLimit, *policy]  // of merchants
	tokens    *lru.Made[int64, *client]            // by token id; by negative merchant id those of its links
	merchants *lru.Made[int64, *merchant]          // by merchant id
	links     *lru.Made[string, *places]           // by text
	signIns   *lru.Made[int64, *rate.Limiter]      // by merchant id
	addresses *lru.Made[netip.Addr, *rate.Limiter] // failed authentications
}

// Token is the token of a request.
type Token struct {
	ID         int64
	MerchantID int64           // 0: an operator's token, which only the limits of a token bound
	Limit      order.RateLimit // zero: the default of the Limiter
}

// policy is a limit on the requests of a token, with its header values.
type policy struct {
	order.RateLimit
	header []string
	// remaining holds the state header by the number of remaining requests. It
	// covers less than half of the burst: only responses close to the limit show
	// it, so most responses cost nothing more.
	remaining []string
	exceeded  *Error
}

const (
	// maxRemaining bounds policy.remaining.
	maxRemaining = 1000
	// maxPolicies bounds the memory for policies of merchants, about 10 MB.
	maxPolicies = 256
)

func newPolicy(limit order.RateLimit) *policy {
	// The bucket of the header is full again after a whole number of seconds.
	window := max(1, (limit.Burst+limit.PerSecond-1)/limit.PerSecond)
	header := fmt.Sprintf(`"default";q=%d;w=%d`, limit.Burst, window)
	p := &policy{
		RateLimit: limit, header: []string{header},
		remaining: make([]string, min((limit.Burst+1)/2, maxRemaining)),
		exceeded:  &Error{Limit: Rate, policy: header, state: fmt.Sprintf(`"default";r=0;t=%d`, retryAfterSeconds)},
	}
	for n := range p.remaining {
		full := (limit.Burst - n + limit.PerSecond - 1) / limit.PerSecond // seconds until the bucket is full
		p.remaining[n] = fmt.Sprintf(`"default";r=%d;t=%d`, n, full)
	}
	return p
}

// New returns a limiter that allows each token perSecond requests a second, with a
// burst of twice that, unless its merchant has a limit of its own, a merchant four times
// that, and each address 60 failed authentications a minute. A merchant gets a part of
// connections, which is how many the server has at once. If perSecond is 0 there are no
// limits at all and New returns nil. now is the clock.
func New(perSecond, connections int, now func() time.Time) *Limiter {
	if perSecond == 0 {
		return nil
	}
	byToken := newPolicy(order.RateLimit{PerSecond: perSecond, Burst: burstSeconds * perSecond})
	return &Limiter{
		now: now, byToken: byToken, policies: lru.NewMade(maxPolicies, newPolicy),
		failed: &Error{
			Limit:  SignIns,
			policy: fmt.Sprintf(`"sign-in";q=%d;w=60`, failuresPerMinute),
			state:  fmt.Sprintf(`"sign-in";r=0;t=%d`, retryAfterSeconds),
		},
		tokens: lru.NewMade(maxBuckets, func(int64) *client {
			return &client{policy: byToken, bucket: rate.NewLimiter(rate.Limit(byToken.PerSecond), byToken.Burst), places: newPlaces(ofToken)}
		}),
		merchants: lru.NewMade(maxBuckets, func(int64) *merchant {
			return &merchant{
				places: newPlaces(ofMerchant(connections)),
				bucket: rate.NewLimiter(rate.Limit(ofMerchantAsToken*byToken.PerSecond), ofMerchantAsToken*byToken.Burst),
			}
		}),
		links:     lru.NewMade(maxBuckets, func(string) *places { return newPlaces(bounds{requests: linkPlaces, waiting: linkPlaces}) }),
		signIns:   lru.NewMade(maxBuckets, perMinute[int64](signInsPerMinute)),
		addresses: lru.NewMade(maxBuckets, perMinute[netip.Addr](failuresPerMinute)),
	}
}

// client is the use of one token.
type client struct {
	places *places

	mu     sync.Mutex
	policy *policy
	bucket *rate.Limiter
}

// merchant is the use of all tokens and links of a merchant.
type merchant struct {
	places *places
	bucket *rate.Limiter
}

// reserve counts n requests in the rate of a merchant whose tokens have a limit each.
func (m *merchant) reserve(now time.Time, ofToken order.RateLimit, n int) *rate.Reservation {
	if limit := rate.Limit(ofMerchantAsToken * ofToken.PerSecond); m.bucket.Limit() != limit {
		m.bucket.SetLimitAt(now, limit)
	}
	if burst := ofMerchantAsToken * ofToken.Burst; m.bucket.Burst() != burst {
		m.bucket.SetBurstAt(now, burst)
	}
	return m.bucket.ReserveN(now, n)
}

// Enter counts a request of a token, of a kind, until leave is called. If too many requests
// of the token or its merchant are in flight, or one of them is over its rate, Enter waits
// for the request's turn. It returns an *Error if that takes too long, and the error of ctx
// if that ends. It sets the headers of the response if few requests of the token are left.
func (l *Limiter) Enter(ctx context.Context, h http.Header, token Token, kind Kind) (leave func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	c := l.tokens.Get(token.ID)
	if token.MerchantID == 0 {
		return l.enter(ctx, h, c, nil, token.Limit, kind, c.places)
	}
	m := l.merchants.Get(token.MerchantID)
	return l.enter(ctx, h, c, m, token.Limit, kind, c.places, m.places)
}

// EnterLink is Enter for a request that follows a link to a file of a merchant. The links of
// a merchant have the limits of one token together. They do not count in the rate of the
// merchant, but their requests in flight do.
func (l *Limiter) EnterLink(ctx context.Context, link string, merchantID int64) (leave func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	c := l.tokens.Get(-merchantID)
	// A browser has no use for the headers.
	return l.enter(ctx, make(http.Header), c, nil, order.RateLimit{}, Plain, l.links.Get(link), c.places, l.merchants.Get(merchantID).places)
}

// enter takes places in all and counts a request in the rate of a client with a limit, and in
// that of its merchant; nil: of none.
func (l *Limiter) enter(ctx context.Context, h http.Header, c *client, m *merchant, limit order.RateLimit, kind Kind, all ...*places) (leave func(), err error) {
	begun := l.now()
	if err := l.takePlaces(ctx, kind, all); err != nil {
		return nil, err
	}
	leave = func() { leaveAll(kind, all) }
	now := l.now()
	p, delay, remaining, err := l.reserve(c, m, limit, kind, now, maxWait[kind]-now.Sub(begun))
	if err != nil {
		leave()
		return nil, err
	}
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			leave()
			return nil, ctx.Err()
		}
	}
	if remaining < len(p.remaining) {
		h[policyHeader], h[limitHeader] = p.header, p.remaining[remaining:remaining+1:remaining+1]
	}
	return leave, nil
}

// takePlaces takes the places of a request in all, in their order.
func (l *Limiter) takePlaces(ctx context.Context, kind Kind, all []*places) error {
	turn := ctx
	for i, p := range all {
		if p.tryTake(kind) {
			continue
		}
		if turn == ctx {
			var cancel context.CancelFunc
			turn, cancel = context.WithTimeout(ctx, maxWait[kind])
			defer cancel()
		}
		if p.take(turn, kind) {
			continue
		}
		leaveAll(kind, all[:i])
		if err := ctx.Err(); err != nil {
			return err
		}
		return l.TooMany()
	}
	return nil
}

func leaveAll(kind Kind, all []*places) {
	for _, p := range all {
		p.leave(kind)
	}
}

// TooMany returns the error of a request that is one too many at once, and counts it.
func (l *Limiter) TooMany() error {
	if l != nil {
		l.refused[InFlight].Add(1)
	}
	return errInFlight
}

// errMerchantRate and errInFlight are errors without headers, which are about the rate of the
// token.
var errMerchantRate, errInFlight = &Error{Limit: Rate}, &Error{Limit: InFlight}

// reserve counts a request in the rate of a client with a limit, and in that of its merchant.
// It returns the policy that holds, how long the request must wait, maxDelay at most, and how
// many requests of the client remain after it.
func (l *Limiter) reserve(c *client, m *merchant, limit order.RateLimit, kind Kind, now time.Time, maxDelay time.Duration) (p *policy, delay time.Duration, remaining int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p = l.policyOf(limit); c.policy.RateLimit != p.RateLimit {
		c.bucket.SetLimitAt(now, rate.Limit(p.PerSecond))
		c.bucket.SetBurstAt(now, p.Burst)
		c.policy = p
	}
	cost := 1
	if kind == Export {
		cost = min(exportCost, p.Burst)
	}
	reservation := c.bucket.ReserveN(now, cost)
	exceeded := p.exceeded
	if delay = reservation.DelayFrom(now); delay <= maxDelay && m != nil {
		ofMerchant := m.reserve(now, p.RateLimit, cost)
		if delay = max(delay, ofMerchant.DelayFrom(now)); delay > maxDelay {
			ofMerchant.CancelAt(now)
			exceeded = errMerchantRate
		}
	}
	if delay > maxDelay {
		reservation.CancelAt(now)
		l.refused[Rate].Add(1)
		return nil, 0, 0, exceeded
	}
	return p, delay, max(0, int(c.bucket.TokensAt(now))), nil
}

// policyOf returns the policy of a limit, which is the default if it is zero.
func (l *Limiter) policyOf(limit order.RateLimit) *policy {
	if limit == (order.RateLimit{}) {
		return l.byToken
	}
	return l.policies.Get(limit)
}

// Refused returns how many requests were refused because of each limit, by its name.
func (l *Limiter) Refused() map[string]uint64 {
	refused := make(map[string]uint64, numLimits)
	for limit := range numLimits {
		refused[limit.String()] = 0
		if l != nil {
			refused[limit.String()] = l.refused[limit].Load()
		}
	}
	return refused
}

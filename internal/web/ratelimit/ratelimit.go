// Package ratelimit bounds how many requests each token may send in a second, how many
// requests of a token and of a merchant are handled at once, and how often each address may
// fail to authenticate. The limits hold for this process only.
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
	// failuresPerMinute is how many failed authentications an address may have.
	failuresPerMinute = 60
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

// ofMerchant returns the bounds of the requests of a merchant, which can have any number of
// tokens, sessions and links. With order.MaxWaiters they take less than a quarter of the
// connections of a server with many, and an eighth of those of one with few.
func ofMerchant(connections int) bounds {
	share := int64(max(connections/16, 2))
	return bounds{
		requests: min(4*ofToken.requests, share), waiting: min(2*ofToken.waiting, share),
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
	Rate     Limit = iota // requests of a token in a second
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

	mu       sync.Mutex
	policies *lru.Cache[order.RateLimit, *policy] // of merchants

	tokens    *buckets[int64, *client]            // by token id; see Token
	merchants *buckets[int64, *places]            // by merchant id
	addresses *buckets[netip.Addr, *rate.Limiter] // failed authentications
}

// Token is the token of a request.
type Token struct {
	ID         int64
	MerchantID int64           // 0: an operator's token, which only the limits of a token bound
	Limit      order.RateLimit // zero: the default of the Limiter
}

// Links stands for the token of those who follow links to the files of a merchant: each
// link is a credential, and a merchant can make any number.
func Links(merchantID int64) Token { return Token{ID: -merchantID, MerchantID: merchantID} }

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
// burst of twice that, unless its merchant has a limit of its own, and each address 60
// failed authentications a minute. A merchant gets a part of connections, which is how many
// the server has at once. If perSecond is 0 there are no limits at all and New returns nil.
// now is the clock.
func New(perSecond, connections int, now func() time.Time) *Limiter {
	if perSecond == 0 {
		return nil
	}
	byToken := newPolicy(order.RateLimit{PerSecond: perSecond, Burst: burstSeconds * perSecond})
	return &Limiter{
		now: now, byToken: byToken, policies: lru.New[order.RateLimit, *policy](maxPolicies),
		failed: &Error{
			Limit:  SignIns,
			policy: fmt.Sprintf(`"sign-in";q=%d;w=60`, failuresPerMinute),
			state:  fmt.Sprintf(`"sign-in";r=0;t=%d`, retryAfterSeconds),
		},
		tokens: newBuckets[int64](maxBuckets, func() *client {
			return &client{policy: byToken, bucket: rate.NewLimiter(rate.Limit(byToken.PerSecond), byToken.Burst), places: newPlaces(ofToken)}
		}),
		merchants: newBuckets[int64](maxBuckets, func() *places { return newPlaces(ofMerchant(connections)) }),
		addresses: newBuckets[netip.Addr](maxBuckets, func() *rate.Limiter {
			return rate.NewLimiter(rate.Every(time.Minute/failuresPerMinute), failuresPerMinute)
		}),
	}
}

// client is the use of one token.
type client struct {
	places *places

	mu     sync.Mutex
	policy *policy
	bucket *rate.Limiter
}

// Enter counts a request of a token, of a kind, until leave is called. If too many requests
// of the token or its merchant are in flight, or the token is over its rate, Enter waits
// for the request's turn. It returns an *Error if that takes too long, and the error of ctx
// if that ends. It sets the headers of the response if few requests are left.
func (l *Limiter) Enter(ctx context.Context, h http.Header, token Token, kind Kind) (leave func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	c, begun := l.tokens.get(token.ID), l.now()
	leave, err = l.takePlaces(ctx, c, token.MerchantID, kind)
	if err != nil {
		return nil, err
	}
	now := l.now()
	p, delay, remaining, err := l.reserve(c, token.Limit, now, maxWait[kind]-now.Sub(begun))
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

// takePlaces takes the places of a request among those of its token and of its merchant, in
// this order, until leave is called.
func (l *Limiter) takePlaces(ctx context.Context, c *client, merchantID int64, kind Kind) (leave func(), err error) {
	turn, cancel := ctx, func() {}
	take := func(p *places) bool {
		if p.tryTake(kind) {
			return true
		}
		if turn == ctx {
			turn, cancel = context.WithTimeout(ctx, maxWait[kind])
		}
		return p.take(turn, kind)
	}
	defer func() { cancel() }()
	refuse := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.refused[InFlight].Add(1)
		return &Error{Limit: InFlight}
	}
	if !take(c.places) {
		return nil, refuse()
	}
	if merchantID == 0 {
		return func() { c.places.leave(kind) }, nil
	}
	ofMerchant := l.merchants.get(merchantID)
	if !take(ofMerchant) {
		c.places.leave(kind)
		return nil, refuse()
	}
	return func() { c.places.leave(kind); ofMerchant.leave(kind) }, nil
}

// reserve counts a request in the rate of a client with a limit. It returns the policy that
// holds, how long the request must wait, maxDelay at most, and how many requests remain
// after it.
func (l *Limiter) reserve(c *client, limit order.RateLimit, now time.Time, maxDelay time.Duration) (p *policy, delay time.Duration, remaining int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p = l.policyOf(limit); c.policy.RateLimit != p.RateLimit {
		c.bucket.SetLimitAt(now, rate.Limit(p.PerSecond))
		c.bucket.SetBurstAt(now, p.Burst)
		c.policy = p
	}
	reservation := c.bucket.ReserveN(now, 1)
	if delay = reservation.DelayFrom(now); delay > maxDelay {
		reservation.CancelAt(now)
		l.refused[Rate].Add(1)
		return nil, 0, 0, p.exceeded
	}
	return p, delay, max(0, int(c.bucket.TokensAt(now))), nil
}

// policyOf returns the policy of a limit, which is the default if it is zero.
func (l *Limiter) policyOf(limit order.RateLimit) *policy {
	if limit == (order.RateLimit{}) {
		return l.byToken
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok := l.policies.Get(limit)
	if !ok {
		p = newPolicy(limit)
		l.policies.Add(limit, p, 1)
	}
	return p
}

// AllowFailure counts one failed authentication of a client, whose address may be
// the zero one. It returns an *Error if the address has failed too often.
func (l *Limiter) AllowFailure(client netip.Addr) error {
	if l == nil || l.addresses.get(Network(client)).AllowN(l.now(), 1) {
		return nil
	}
	l.refused[SignIns].Add(1)
	return l.failed
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

// Network returns the address for which a client is counted: for IPv6 that of the
// /64 network, since a client has many addresses in it.
func Network(client netip.Addr) netip.Addr {
	if client.Is6() {
		if network, err := client.Prefix(64); err == nil {
			return network.Addr()
		}
	}
	return client
}

// buckets holds a value for each of the keys that were used last. A key whose value
// was evicted begins with a new one.
type buckets[K comparable, V any] struct {
	create func() V

	mu    sync.Mutex
	byKey *lru.Cache[K, V]
}

func newBuckets[K comparable, V any](maxKeys int, create func() V) *buckets[K, V] {
	return &buckets[K, V]{create: create, byKey: lru.New[K, V](maxKeys)}
}

// get returns the value of a key.
func (b *buckets[K, V]) get(key K) V {
	b.mu.Lock()
	defer b.mu.Unlock()
	value, ok := b.byKey.Get(key)
	if !ok {
		value = b.create()
		b.byKey.Add(key, value, 1)
	}
	return value
}

// Package ratelimit bounds how often each token may send requests, and how often
// each address may fail to authenticate. The limits hold for this process only.
package ratelimit

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"merchantorders/internal/lru"
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

// Error says that a client sends more requests than its limit allows.
type Error struct {
	policy, state string // values of the headers
}

// Error implements error.
func (e *Error) Error() string { return "too many requests: " + e.policy }

// SetHeaders sets the headers of the 429 response.
func (e *Error) SetHeaders(h http.Header) {
	h.Set("Retry-After", strconv.Itoa(retryAfterSeconds))
	h.Set(policyHeader, e.policy)
	h.Set(limitHeader, e.state)
}

// Limiter holds the limits. A nil *Limiter has none.
type Limiter struct {
	now    func() time.Time
	burst  int
	policy []string
	// remaining holds the state header by the number of remaining requests. It
	// covers less than half of the burst: only responses close to the limit show
	// it, so most responses cost nothing more.
	remaining []string
	exceeded  *Error
	failed    *Error

	tokens    *buckets[int64]      // by token id
	addresses *buckets[netip.Addr] // failed authentications
}

// New returns a limiter that allows each token perSecond requests a second, with
// a burst of twice that, and each address 60 failed authentications a minute. If
// perSecond is 0 there are no limits at all and New returns nil.
func New(perSecond int, now func() time.Time) *Limiter {
	if perSecond == 0 {
		return nil
	}
	burst := burstSeconds * perSecond
	policy := fmt.Sprintf(`"default";q=%d;w=%d`, burst, burstSeconds)
	l := &Limiter{
		now: now, burst: burst, policy: []string{policy},
		remaining: make([]string, (burst+1)/2),
		exceeded:  &Error{policy: policy, state: fmt.Sprintf(`"default";r=0;t=%d`, retryAfterSeconds)},
		failed: &Error{
			policy: fmt.Sprintf(`"sign-in";q=%d;w=60`, failuresPerMinute),
			state:  fmt.Sprintf(`"sign-in";r=0;t=%d`, retryAfterSeconds),
		},
		tokens:    newBuckets[int64](rate.Limit(perSecond), burst, maxBuckets),
		addresses: newBuckets[netip.Addr](rate.Every(time.Minute/failuresPerMinute), failuresPerMinute, maxBuckets),
	}
	for n := range l.remaining {
		full := (burst - n + perSecond - 1) / perSecond // seconds until the bucket is full
		l.remaining[n] = fmt.Sprintf(`"default";r=%d;t=%d`, n, full)
	}
	return l
}

// Allow counts one request of a token. It returns an *Error if the token has no
// request left, and sets the headers of the response if few are left.
func (l *Limiter) Allow(h http.Header, tokenID int64) error {
	if l == nil {
		return nil
	}
	now := l.now()
	bucket := l.tokens.get(tokenID)
	if !bucket.AllowN(now, 1) {
		return l.exceeded
	}
	if n := max(0, int(bucket.TokensAt(now))); n < len(l.remaining) {
		h[policyHeader], h[limitHeader] = l.policy, l.remaining[n:n+1:n+1]
	}
	return nil
}

// AllowFailure counts one failed authentication at the address of a request. It
// returns an *Error if the address has failed too often.
func (l *Limiter) AllowFailure(r *http.Request) error {
	if l == nil || l.addresses.get(clientAddress(r)).AllowN(l.now(), 1) {
		return nil
	}
	return l.failed
}

// clientAddress returns the address that a connection comes from; for IPv6 the
// /64 network, since a client has many addresses in it. It returns the zero
// address if the connection has none.
func clientAddress(r *http.Request) netip.Addr {
	connection, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	address := connection.Addr().Unmap()
	if address.Is6() {
		if network, err := address.WithZone("").Prefix(64); err == nil {
			return network.Addr()
		}
	}
	return address
}

// buckets holds one token bucket for each of the keys that were used last. A key
// whose bucket was evicted begins with a full one.
type buckets[K comparable] struct {
	limit rate.Limit
	burst int

	mu    sync.Mutex
	byKey *lru.Cache[K, *rate.Limiter]
}

func newBuckets[K comparable](limit rate.Limit, burst, maxKeys int) *buckets[K] {
	return &buckets[K]{limit: limit, burst: burst, byKey: lru.New[K, *rate.Limiter](maxKeys)}
}

// get returns the bucket of a key.
func (b *buckets[K]) get(key K) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	bucket, ok := b.byKey.Get(key)
	if !ok {
		bucket = rate.NewLimiter(b.limit, b.burst)
		b.byKey.Add(key, bucket, 1)
	}
	return bucket
}

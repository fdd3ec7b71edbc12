package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// mostBuckets bounds the memory for tokens in use, about 2 MB.
	mostBuckets = 10_000
	// burstSeconds is for how many seconds' requests a token that was not used
	// has saved up.
	burstSeconds = 2
	// retrySeconds is when a client that was refused may ask again.
	retrySeconds = 1
)

// The headers of draft-ietf-httpapi-ratelimit-headers, in the form that
// http.Header keeps names in.
const (
	rateLimitHeader  = "Ratelimit"
	ratePolicyHeader = "Ratelimit-Policy"
)

// LimitError says that somebody asks more often than is allowed.
type LimitError struct {
	policy, state string // as in the headers
}

// Error implements error.
func (e *LimitError) Error() string { return "too many requests: " + e.policy }

// Limits bounds how often each token may ask, and how often an address may fail
// to sign in. They hold for this process alone. A nil *Limits sets none.
type Limits struct {
	now    func() time.Time
	rate   rate.Limit
	burst  int
	policy []string
	// left is the state header by how many requests are left, of which those
	// are shown that are less than half of all: a client that is far from the
	// limit need not hear of it, and most answers cost nothing more.
	left   []string
	refuse *LimitError

	mu      sync.RWMutex
	buckets map[int64]*rate.Limiter // by the id of the token

	signIns *signIns
}

// NewLimits returns limits of so many requests a second for each token, with
// twice that at once, and of 60 failed sign-ins a minute for each address. 0 a
// second: no limits at all, nil.
func NewLimits(perSecond int, now func() time.Time) *Limits {
	if perSecond == 0 {
		return nil
	}
	burst := burstSeconds * perSecond
	policy := fmt.Sprintf(`"default";q=%d;w=%d`, burst, burstSeconds)
	l := &Limits{
		now: now, rate: rate.Limit(perSecond), burst: burst, policy: []string{policy},
		left:    make([]string, (burst+1)/2),
		refuse:  &LimitError{policy: policy, state: fmt.Sprintf(`"default";r=0;t=%d`, retrySeconds)},
		buckets: make(map[int64]*rate.Limiter), signIns: newSignIns(mostAddresses),
	}
	for n := range l.left {
		full := (burst - n + perSecond - 1) / perSecond // seconds until there are all again
		l.left[n] = fmt.Sprintf(`"default";r=%d;t=%d`, n, full)
	}
	return l
}

// take counts one request of a token and says in the answer's headers what is
// left, where it is little. It returns a *LimitError when nothing is.
func (l *Limits) take(h http.Header, tokenID int64) error {
	if l == nil {
		return nil
	}
	now := l.now()
	bucket := l.bucket(tokenID, now)
	if !bucket.AllowN(now, 1) {
		return l.refuse
	}
	if n := max(0, int(bucket.TokensAt(now))); n < len(l.left) {
		h[ratePolicyHeader], h[rateLimitHeader] = l.policy, l.left[n:n+1:n+1]
	}
	return nil
}

// bucket returns the bucket of a token.
func (l *Limits) bucket(tokenID int64, now time.Time) *rate.Limiter {
	l.mu.RLock()
	bucket := l.buckets[tokenID]
	l.mu.RUnlock()
	if bucket != nil {
		return bucket
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if bucket = l.buckets[tokenID]; bucket == nil {
		l.makeRoom(now)
		bucket = rate.NewLimiter(l.rate, l.burst)
		l.buckets[tokenID] = bucket
	}
	return bucket
}

// makeRoom lets go of the buckets that are full again, which are as good as new
// ones, and of all where these are few: looking through them at every new token
// would cost more than it limits.
func (l *Limits) makeRoom(now time.Time) {
	if len(l.buckets) < mostBuckets {
		return
	}
	for id, bucket := range l.buckets {
		if bucket.TokensAt(now) >= float64(l.burst) {
			delete(l.buckets, id)
		}
	}
	if len(l.buckets) > mostBuckets*9/10 {
		clear(l.buckets)
	}
}

// unauthorized is the refusal of a request whose token is not good:
// ErrUnauthorized, or a *LimitError when that happens too often at the
// request's address. A good token never comes here.
func (l *Limits) unauthorized(r *http.Request) error {
	if l == nil || l.signIns.allow(clientAddress(r), l.now()) {
		return ErrUnauthorized
	}
	return errSignIns
}

// clientAddress returns the address that a request's connection comes from; the
// network of it in IPv6, of which a client has many addresses. The zero address
// where it is none.
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

package ratelimit

import (
	"net/netip"
	"time"

	"golang.org/x/time/rate"
)

const (
	// failuresPerMinute is how many failed authentications an address may have.
	failuresPerMinute = 60
	// signInsPerMinute is how often the people of a merchant, or operators, may sign in: each
	// time is a transaction and a session.
	signInsPerMinute = 60
)

// perMinute returns a function that makes buckets of n a minute, one for each key.
func perMinute[K any](n int) func(K) *rate.Limiter {
	return func(K) *rate.Limiter { return rate.NewLimiter(rate.Every(time.Minute/time.Duration(n)), n) }
}

// AllowSignIn counts one sign-in of the people of a merchant, or of operators with merchant 0.
// It returns an *Error if they sign in too often.
func (l *Limiter) AllowSignIn(merchantID int64) error {
	if l == nil || l.signIns.Get(merchantID).AllowN(l.now(), 1) {
		return nil
	}
	l.refused[Rate].Add(1)
	return errMerchantRate
}

// AllowFailure counts one failed authentication of a client, whose address may be
// the zero one. It returns an *Error if the address has failed too often.
func (l *Limiter) AllowFailure(client netip.Addr) error {
	if l == nil || l.addresses.Get(Network(client)).AllowN(l.now(), 1) {
		return nil
	}
	l.refused[SignIns].Add(1)
	return l.failed
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

package config

import (
	"errors"
	"net"
	"strconv"
)

// The region and the bucket that stand for the data folder in the addresses of
// invoice files.
const (
	LocalRegion = "local"
	LocalBucket = "merchant-orders"
)

// Serve holds the settings of a server alone.
type Serve struct {
	// Listen is the address to accept connections on, host:port. Port 0 takes
	// a free one.
	Listen string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to accept connections on. Port 0 takes a free one, which is printed."`

	// RateLimit is how many requests a second each token may make, twice as many
	// at once, in this process. 0: as many as it likes, and failed sign-ins are
	// not limited either.
	RateLimit string `name:"rate-limit" default:"100" placeholder:"N" help:"Requests a second that each token may make, and twice as many at once. 0 sets no limits, also none of failed sign-ins."`

	// Demo makes a merchant with orders to try things on, where there is no
	// merchant yet.
	Demo bool `help:"On an empty data folder make merchant 355 with about 60 orders; print a token and three commands to try. What is there is kept."`
}

// Validate returns all faults of the settings, each as a Error, or nil.
func (s Serve) Validate() error {
	return errors.Join(
		Invalid("listen", checkListen(s.Listen)),
		Invalid("rate-limit", checkRate(s.RateLimit)),
	)
}

// Requests returns RateLimit as a number; 0 for no limits.
func (s Serve) Requests() int {
	n, _ := parseRate(s.RateLimit)
	return n
}

// Addresses returns what the addresses that the service gives out begin with:
// its own and that of invoice files, both without a slash at the end. bound is
// the address that is really listened on.
func (c Config) Addresses(bound net.Addr) (baseURL, storageURL string) {
	baseURL, storageURL = trimURL(c.BaseURL), trimURL(c.StorageURL)
	if baseURL == "" {
		baseURL = LocalURL(bound)
	}
	if storageURL == "" {
		region, bucket := c.StorageNames()
		storageURL = baseURL + "/storage/" + region + "/" + bucket
	}
	return baseURL, storageURL
}

// LocalURL returns the address under which a client on this machine reaches a
// listener.
func LocalURL(bound net.Addr) string {
	tcp, ok := bound.(*net.TCPAddr)
	if !ok {
		return "http://" + bound.String()
	}
	host := tcp.IP.String()
	if tcp.IP == nil || tcp.IP.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(tcp.Port))
}

package config

import (
	"errors"
	"net"
	"strconv"
)

// The region and the bucket of the data folder, in the URLs of invoice files.
const (
	LocalRegion = "local"
	LocalBucket = "merchant-orders"
)

// Serve has the settings of the command serve, with tags as in Config.
type Serve struct {
	Listen    string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to accept connections on. Port 0 selects a free port, which is printed."`
	RateLimit string `name:"rate-limit" default:"100" placeholder:"N" help:"Requests a second for each token, with bursts of twice as many. 0: no limit, also none for failed authentication."`
	Demo      bool   `help:"In an empty data folder, create merchant 355 with about 60 orders. Print a token for 24 hours and three commands to try. Existing data is not changed. Only on a loopback address."`
}

// Check returns the *Error of every invalid setting, joined, or nil.
func (s Serve) Check() error {
	listen := checkListen(s.Listen)
	if listen == "" && s.Demo && !isLoopback(s.Listen) {
		listen = "must be a loopback address such as 127.0.0.1:8080 with --demo, which prints a token"
	}
	_, rate := parseRate(s.RateLimit)
	return errors.Join(Invalid("listen", listen), Invalid("rate-limit", rate))
}

// isLoopback reports whether only this machine can reach a listening address.
func isLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Requests returns RateLimit as a number; 0 means no limit.
func (s Serve) Requests() int {
	n, _ := parseRate(s.RateLimit)
	return n
}

// Addresses returns the base URLs of the service and of its invoice files, without
// a slash at the end. bound is the address of the listener.
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

// LocalURL returns the URL at which a client on this machine reaches a listener.
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

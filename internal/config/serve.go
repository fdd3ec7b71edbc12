package config

import (
	"errors"
	"net"
	"strconv"
	"time"
)

// The region and the bucket of the data folder, in the URLs of invoice files.
const (
	LocalRegion = "local"
	LocalBucket = "merchant-orders"
)

// The values of LogFormat.
const (
	LogJSON = "json"
	LogText = "text"
)

// Serve has the settings of the command serve, with tags as in Config.
type Serve struct {
	Listen               string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to accept connections on. Port 0 selects a free port, which is printed."`
	RateLimit            string `name:"rate-limit" default:"100" placeholder:"N" help:"Requests a second for each token, with bursts of twice as many. 0: no limit, also none for requests in flight and failed authentication."`
	MaxConnections       string `name:"max-connections" placeholder:"N" help:"Connections at a time. Empty: as many as the limit on open files allows, 10000 at most."`
	IdleTimeout          string `name:"idle-timeout" default:"30s" placeholder:"DURATION" help:"Time after which a connection without a request is closed. Set it longer than the time after which a proxy closes its own."`
	PurgeDeletedAfter    string `name:"purge-deleted-after" default:"720h" placeholder:"DURATION" help:"Time after which the bytes of a deleted invoice file are removed from the storage. 0: never."`
	HideAddresses        bool   `name:"hide-addresses" help:"Do not log the addresses of clients whose request is refused with 401 or 403."`
	LogFormat            string `name:"log-format" default:"json" placeholder:"WORD" help:"Form of the lines of the log: json or text."`
	ReadyRequiresStorage bool   `name:"ready-requires-storage" help:"Not ready (/readyz is 503) while the bucket of the invoice files is out of reach. Without it the response only says so: all requests but those for files work."`
	Demo                 bool   `help:"In an empty data folder, create merchant 355 with about 60 orders. Print a token for 24 hours and three commands to try. Existing data is not changed. Only on a loopback address."`
}

// Check returns the *Error of every invalid setting, joined, or nil.
func (s Serve) Check() error {
	listen := CheckListen(s.Listen)
	if listen == "" && s.Demo && !isLoopback(s.Listen) {
		listen = "must be a loopback address such as 127.0.0.1:8080 with --demo, which prints a token"
	}
	_, rate := parseNumber(s.RateLimit, 0, MaxRateLimit)
	var connections, idle string
	if s.MaxConnections != "" {
		_, connections = parseNumber(s.MaxConnections, MinConnections, maxConnections)
	}
	if d, err := time.ParseDuration(s.IdleTimeout); err != nil || d < time.Second || d > time.Hour {
		idle = "must be a duration from 1s to 1h, such as 30s"
	}
	purge := ""
	if d, err := time.ParseDuration(s.PurgeDeletedAfter); err != nil || d < 0 {
		purge = "must be a duration such as 720h, or 0 for never"
	}
	return errors.Join(Invalid("listen", listen), Invalid("rate-limit", rate), Invalid("purge-deleted-after", purge),
		Invalid("max-connections", connections), Invalid("idle-timeout", idle), Invalid("log-format", oneOf(s.LogFormat, LogJSON, LogText)))
}

// isLoopback reports whether only this machine can reach a listening address.
func isLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Requests returns RateLimit as a number; 0 means no limit.
func (s Serve) Requests() int {
	n, _ := parseNumber(s.RateLimit, 0, MaxRateLimit)
	return n
}

const (
	// MinConnections is the minimum of MaxConnections.
	MinConnections = 16
	maxConnections = 1_000_000
	// defaultConnections is the largest default of MaxConnections.
	defaultConnections = 10_000
	// spareDescriptors is how many open files are left to the database, the log and
	// connections to the storage.
	spareDescriptors = 64
)

// Connections returns MaxConnections as a number. By default it is half of the open
// files that the process may have, after a few for other purposes: a request can have
// an open file beside its connection.
func (s Serve) Connections(openFiles uint64) int {
	if s.MaxConnections != "" {
		n, _ := parseNumber(s.MaxConnections, MinConnections, maxConnections)
		return n
	}
	if openFiles < spareDescriptors {
		return MinConnections
	}
	return int(min(max((openFiles-spareDescriptors)/2, MinConnections), defaultConnections))
}

// Idle returns IdleTimeout as a duration.
func (s Serve) Idle() time.Duration {
	d, _ := time.ParseDuration(s.IdleTimeout) // Check has found it valid
	return d
}

// PurgeAfter returns PurgeDeletedAfter as a duration; 0 means never.
func (s Serve) PurgeAfter() time.Duration {
	d, _ := time.ParseDuration(s.PurgeDeletedAfter) // Check has found it valid
	return d
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

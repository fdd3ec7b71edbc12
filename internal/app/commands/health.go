package commands

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"merchantorders/internal/config"
)

// healthCommand asks a running service whether it is ready, for the probes of
// containers and supervisors. It needs neither the data folder nor a token.
type healthCommand struct {
	callsService
	Listen  string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address that the service listens on, as for serve."`
	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"Certificate of the service, as for serve. If it is set, the request uses HTTPS."`
	URL     string `name:"url" aliases:"address" placeholder:"URL" help:"URL of the service, such as https://orders.example.com. Empty: the address that it listens on."`
	Live    bool   `help:"Ask whether the process serves (/healthz), not whether the service is ready (/readyz)."`
	Timeout string `default:"5s" placeholder:"DURATION" help:"Time to wait for the response, from 100ms to 1m. /readyz responds within 2 seconds."`

	target  *url.URL
	timeout time.Duration
}

func (c *healthCommand) check() error {
	var f flagValues
	if c.URL != "" {
		f.refuse("url", config.CheckURL(c.URL))
		c.target, _ = url.Parse(strings.TrimRight(c.URL, "/"))
	} else {
		var problem string
		if c.target, problem = localTarget(c.Listen); problem == "" && c.TLSCert != "" {
			c.target.Scheme = "https"
		}
		f.refuse("listen", problem)
	}
	var err error
	if c.timeout, err = time.ParseDuration(c.Timeout); err != nil || c.timeout < 100*time.Millisecond || c.timeout > time.Minute {
		f.refuse("timeout", "must be a duration from 100ms to 1m, such as 5s")
	}
	return f.err()
}

// localTarget returns the URL at which this machine reaches a listening address,
// and what is wrong with the address.
func localTarget(listen string) (*url.URL, string) {
	if problem := config.CheckListen(listen); problem != "" {
		return nil, problem
	}
	host, port, _ := net.SplitHostPort(listen) // CheckListen has split it
	if port == "0" {
		return nil, "must have the port that the service has chosen; or set --url"
	}
	if ip := net.ParseIP(host); host == "" || ip.Equal(net.IPv4zero) {
		host = "127.0.0.1"
	} else if ip.IsUnspecified() {
		host = "::1"
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}, ""
}

func (c *healthCommand) run(ctx context.Context, p *process) error {
	path := "/readyz"
	if c.Live {
		path = "/healthz"
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	address := c.target.JoinPath(path).String()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := c.client().Do(request)
	switch urlErr, failed := errors.AsType[*url.Error](err); {
	case failed && errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no response from %s within %s", address, c.timeout)
	case failed:
		return fmt.Errorf("no response from %s: %w", address, urlErr.Err)
	}
	defer func() { _ = response.Body.Close() }()
	var body struct {
		Status  string `json:"status"`
		Storage string `json:"storage"`
	}
	// The status decides. A body that is no JSON object adds nothing.
	_ = json.NewDecoder(io.LimitReader(response.Body, maxProbeBody)).Decode(&body)
	storage := ""
	if body.Storage != "" {
		storage = ", storage " + body.Storage
	}
	switch {
	case !c.Live && response.TLS != nil && p.Now().After(response.TLS.PeerCertificates[0].NotAfter):
		return fmt.Errorf("the TLS certificate of %s has expired at %s: clients refuse it", address, timestamp(response.TLS.PeerCertificates[0].NotAfter))
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s responds %s%s", address, response.Status, storage)
	case body.Status == "":
		return fmt.Errorf("%s is not a Merchant Orders service: the response has no status", address)
	}
	return p.print("%s%s", body.Status, storage)
}

// maxProbeBody bounds what is read of a response, in bytes.
const maxProbeBody = 4 << 10

// client returns the HTTP client of the probe. The certificate of the service is for
// its public name, so it is not verified at the service's own address: the probe
// sends no secret.
func (c *healthCommand) client() *http.Client {
	host := c.target.Hostname()
	own := c.URL == "" || host == "localhost" || net.ParseIP(host).IsLoopback()
	return &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: own},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

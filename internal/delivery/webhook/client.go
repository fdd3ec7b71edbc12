package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/delivery"

	"code.dny.dev/ssrf"
)

// Limits of one request to an endpoint.
const (
	connectTimeout = 5 * time.Second
	// maxDrained is how many bytes of a response are read beyond MaxResponse, so that
	// the connection can be used again.
	maxDrained        = 16 << 10
	maxResponseHeader = 16 << 10
	idleTimeout       = 60 * time.Second
	maxIdle           = 256
	maxIdlePerHost    = 64 // many merchants use the same provider
)

// Errors are the values of delivery.Result.Error for a webhook, except for the empty one.
var Errors = []string{delivery.ErrorStatus, delivery.ErrorTimeout, delivery.ErrorAddress, delivery.ErrorResolve, delivery.ErrorTLS, delivery.ErrorConnection}

// Message is a request to an endpoint.
type Message struct {
	ID        string
	URL       string
	At        time.Time
	Signature string
	Body      []byte
	Header    http.Header // further header fields; nil: none
}

// Client sends messages to endpoints over HTTP. It follows no redirect, ignores the
// proxies of the environment, and connects to public addresses only: it checks the
// address of each connection after the name was resolved, so that no name can lead
// it elsewhere.
type Client struct {
	http *http.Client
}

// NewClient returns a Client. allowPrivate lets it connect to any address.
func NewClient(allowPrivate bool) *Client {
	dialer := &net.Dialer{Timeout: connectTimeout, Control: public.Safe}
	if allowPrivate {
		dialer.Control = nil
	}
	return newClient(dialer, nil)
}

// newClient returns a Client with a dialer. roots are the trusted authorities; nil:
// those of the system.
func newClient(dialer *net.Dialer, roots *x509.CertPool) *Client {
	return &Client{http: &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{RootCAs: roots},
			TLSHandshakeTimeout:    connectTimeout,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // a small response could become a large one
			MaxResponseHeaderBytes: maxResponseHeader,
			MaxIdleConns:           maxIdle,
			MaxIdleConnsPerHost:    maxIdlePerHost,
			IdleConnTimeout:        idleTimeout,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Post sends a message. The caller bounds the time with ctx. Took of the result is not
// set.
func (c *Client) Post(ctx context.Context, m Message) delivery.Result {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return delivery.Result{Error: delivery.ErrorConnection}
	}
	maps.Copy(request.Header, m.Header)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "merchant-orders-webhooks/1")
	request.Header.Set("webhook-id", m.ID)
	request.Header.Set("webhook-timestamp", strconv.FormatInt(m.At.Unix(), 10))
	request.Header.Set("webhook-signature", m.Signature)
	response, err := c.http.Do(request)
	if err != nil {
		return delivery.Result{Error: errorKind(ctx, err)}
	}
	defer func() { _ = response.Body.Close() }()
	// The status decides; an error here only shortens the log.
	first, _ := io.ReadAll(io.LimitReader(response.Body, MaxResponse))
	_, _ = io.CopyN(io.Discard, response.Body, maxDrained)
	result := delivery.Result{Status: response.StatusCode, Response: plainText(first)}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		result.Error = delivery.ErrorStatus
	}
	if result.Status == http.StatusTooManyRequests || result.Status == http.StatusServiceUnavailable {
		result.RetryAfter = retryAfter(response.Header.Get("Retry-After"), m.At)
	}
	return result
}

// retryAfter returns how long a header Retry-After asks to wait from a time on, 0 for one
// that is absent or not valid. A number that is too large is as long as possible.
func retryAfter(value string, from time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(until.Sub(from), 0)
}

// errorKind returns the value of delivery.Result.Error for the error of a request.
func errorKind(ctx context.Context, err error) string {
	var timeout net.Error
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedPort), errors.Is(err, ssrf.ErrProhibitedNetwork):
		return delivery.ErrorAddress
	case ctx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return delivery.ErrorTimeout
	case errors.As(err, &dns):
		return delivery.ErrorResolve
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &alert):
		return delivery.ErrorTLS
	}
	return delivery.ErrorConnection
}

// plainText returns bytes as a text that every database stores.
func plainText(b []byte) string {
	text := strings.ToValidUTF8(string(b), "")
	return strings.ReplaceAll(text, "\x00", "")
}

// Package mail sends e-mails through a mail server. It must not know what is in them, or
// when they are sent.
package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"merchantorders/internal/webhook"
)

// Options say how to reach the mail server, and who sends.
type Options struct {
	Host string
	Port int
	TLS  bool // from the beginning; false: by STARTTLS
	// Plain sends without TLS, to a server on this machine.
	Plain    bool
	User     string // empty: no authentication
	Password string
	From     string         // e-mail address
	Roots    *x509.CertPool // trusted authorities; nil: those of the system
}

// Client sends e-mails, each over a connection of its own. It implements webhook.Mailer.
type Client struct{ options Options }

// NewClient returns a Client.
func NewClient(o Options) *Client { return &Client{o} }

// Send sends an e-mail. The caller bounds the time with ctx.
func (c *Client) Send(ctx context.Context, m webhook.Mail) webhook.Result {
	message, err := c.message(m)
	if err == nil {
		err = c.send(ctx, message)
	}
	if message.IsDelivered() { // also if the connection did not end as it should
		return webhook.Result{}
	}
	return webhook.Result{Error: errorKind(ctx, err)}
}

// message returns an e-mail as the library has it. Long lines and characters that are not
// ASCII are encoded, also in the header, so that a text cannot begin a header field.
func (c *Client) message(m webhook.Mail) (*gomail.Msg, error) {
	message := gomail.NewMsg()
	message.Subject(m.Subject)
	message.SetDateWithValue(m.At)
	message.SetMessageIDWithValue(m.ID + c.options.From[strings.LastIndexByte(c.options.From, '@'):])
	// RFC 3834: no automatic answers.
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	if m.End != "" {
		// RFC 8058. The library's own methods do not encode the URL.
		message.SetGenHeader(gomail.HeaderListUnsubscribe, "<"+m.End+">")
		message.SetListUnsubscribePost()
	}
	message.SetBodyString(gomail.TypeTextPlain, m.Body)
	return message, errors.Join(message.From(c.options.From), message.To(m.To))
}

// send sends a message over a new connection.
func (c *Client) send(ctx context.Context, message *gomail.Msg) error {
	config := &tls.Config{ServerName: c.options.Host, RootCAs: c.options.Roots}
	policy, dial := gomail.TLSMandatory, new(net.Dialer).DialContext
	switch {
	case c.options.TLS:
		// The library finds the TLS of the connection itself.
		policy, dial = gomail.TLSOpportunistic, (&tls.Dialer{Config: config}).DialContext
	case c.options.Plain:
		policy = gomail.NoTLS
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // closes the connection, which the library leaves open if the authentication fails
	options := []gomail.Option{
		gomail.WithPort(c.options.Port), gomail.WithTLSPolicy(policy), gomail.WithTLSConfig(config), gomail.WithoutNoop(), gomail.WithoutRset(),
		gomail.WithDialContextFunc(func(dialing context.Context, network, address string) (net.Conn, error) {
			connection, err := dial(dialing, network, address)
			if err == nil {
				context.AfterFunc(ctx, func() { _ = connection.Close() })
			}
			return connection, err
		}),
	}
	if c.options.User != "" {
		options = append(options, gomail.WithUsername(c.options.User), gomail.WithPassword(c.options.Password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
	}
	client, err := gomail.NewClient(c.options.Host, options...)
	if err != nil {
		return fmt.Errorf("mail server: %w", err)
	}
	return client.DialAndSendWithContext(ctx, message)
}

// errorKind returns the value of webhook.Result.Error for an error.
func errorKind(ctx context.Context, err error) string {
	var timeout net.Error
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var refusal *gomail.SendError
	switch {
	case errors.As(err, &refusal) && refusal.Reason != gomail.ErrSMTPMailFrom && !refusal.IsTemp() && refusal.ErrorCode() >= 500:
		return webhook.ErrorRefused
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return webhook.ErrorTimeout
	case errors.As(err, &dns):
		return webhook.ErrorResolve
	case errors.As(err, &certificate):
		return webhook.ErrorTLS
	}
	return webhook.ErrorConnection
}

// Package mail sends e-mails through a mail server. It must not know what is in them, or
// when they are sent.
package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/strict"
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
	Hello    string         // name for EHLO; empty: that of this machine
	Roots    *x509.CertPool // trusted authorities; nil: those of the system
	// Patience bounds each wait for the server; 0: as long as RFC 5321, 4.5.3.2, asks for.
	Patience time.Duration
}

// Client sends e-mails, each over a connection of its own. It implements digest.Mailer.
type Client struct{ options Options }

// NewClient returns a Client.
func NewClient(o Options) *Client { return &Client{o} }

// connectTimeout bounds the connection, before the server says anything.
const connectTimeout = 30 * time.Second

// step is a step of a session, with the time that RFC 5321, 4.5.3.2, gives the server. A
// client that gives up earlier does not know whether the server has taken the e-mail.
type step struct {
	name string
	wait time.Duration
}

var (
	stepGreeting  = step{"greeting", 5 * time.Minute} // with EHLO, STARTTLS and the authentication
	stepSender    = step{"MAIL FROM", 5 * time.Minute}
	stepRecipient = step{"RCPT TO", 5 * time.Minute}
	stepData      = step{"DATA", 2 * time.Minute}
	stepContent   = step{"content", 3 * time.Minute}
	stepEnd       = step{"end of DATA", 10 * time.Minute}
)

// Send sends an e-mail. It ends with ctx, or when the server takes too long for a step.
func (c *Client) Send(ctx context.Context, m digest.Mail) delivery.Result {
	message, err := c.message(m)
	if err == nil {
		err = c.session(ctx, func(s *session) error { return s.send(message, c.options.From, m.To) })
	}
	if err == nil {
		return delivery.Result{}
	}
	return delivery.Result{Error: errorKind(ctx, err), Response: c.words(err)}
}

// Check returns why the server would take no e-mail, or nil. The server hears the sender, and
// no recipient.
func (c *Client) Check(ctx context.Context) error {
	err := c.session(ctx, func(s *session) error {
		return s.do(stepSender, func() error { return s.Mail("<" + c.options.From + ">") })
	})
	if err != nil {
		return errors.New(errorKind(ctx, err) + ": " + c.words(err))
	}
	return nil
}

// message returns an e-mail as the library has it. Long lines and characters that are not
// ASCII are encoded, also in the header, so that a text cannot begin a header field.
func (c *Client) message(m digest.Mail) (*gomail.Msg, error) {
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

// session opens a session with the server, and ends it after a function.
func (c *Client) session(ctx context.Context, use func(*session) error) error {
	config := &tls.Config{ServerName: c.options.Host, RootCAs: c.options.Roots}
	dialer := &net.Dialer{Timeout: connectTimeout}
	policy, dial := gomail.TLSMandatory, dialer.DialContext
	switch {
	case c.options.TLS:
		// The library finds the TLS of the connection itself.
		policy, dial = gomail.TLSOpportunistic, (&tls.Dialer{NetDialer: dialer, Config: config}).DialContext
	case c.options.Plain:
		policy = gomail.NoTLS
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // closes the connection, which the library leaves open if the authentication fails
	options := []gomail.Option{
		gomail.WithPort(c.options.Port), gomail.WithTLSPolicy(policy), gomail.WithTLSConfig(config), gomail.WithTimeout(cmp.Or(c.options.Patience, stepGreeting.wait)),
		gomail.WithDialContextFunc(func(dialing context.Context, network, address string) (net.Conn, error) {
			connection, err := dial(dialing, network, address)
			if err == nil {
				context.AfterFunc(ctx, func() { _ = connection.Close() })
			}
			return connection, err
		}),
	}
	if c.options.Hello != "" {
		options = append(options, gomail.WithHELO(c.options.Hello))
	}
	if c.options.User != "" {
		options = append(options, gomail.WithUsername(c.options.User), gomail.WithPassword(c.options.Password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
	}
	client, err := gomail.NewClient(c.options.Host, options...)
	if err != nil {
		return fmt.Errorf("mail server: %w", err)
	}
	opened, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return &stepError{stepGreeting, err}
	}
	s := &session{opened, c.options.Patience}
	err = use(s)
	_ = s.UpdateDeadline(time.Second)
	_ = s.Quit() // says nothing of the e-mail
	return err
}

// session is a session with the server after EHLO, STARTTLS and the authentication.
type session struct {
	*smtp.Client
	patience time.Duration // see Options
}

// stepError is an error at a step of a session.
type stepError struct {
	step step
	error
}

func (e *stepError) Unwrap() error { return e.error }

func (s *session) do(at step, run func() error) error {
	err := s.UpdateDeadline(cmp.Or(s.patience, at.wait))
	if err == nil {
		err = run()
	}
	if err != nil {
		return &stepError{at, err}
	}
	return nil
}

// send sends a message. The addresses are those of the message.
func (s *session) send(message *gomail.Msg, sender, recipient string) error {
	// A server that passes the e-mail on to one without the extension refuses it.
	s.SkipSMTPUTF8(!strings.ContainsFunc(sender+recipient, func(r rune) bool { return r > '~' }))
	var body io.WriteCloser
	for _, part := range []struct {
		step
		run func() error
	}{
		{stepSender, func() error { return s.Mail("<" + sender + ">") }},
		{stepRecipient, func() error { return s.Rcpt("<" + recipient + ">") }},
		{stepData, func() (err error) { body, err = s.Data(); return err }},
		{stepContent, func() error { _, err := message.WriteTo(body); return err }},
		{stepEnd, func() error { return body.Close() }},
	} {
		if err := s.do(part.step, part.run); err != nil {
			return err
		}
	}
	return nil
}

// errorKind returns the value of delivery.Result.Error for an error.
func errorKind(ctx context.Context, err error) string {
	var timeout net.Error
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var reply *textproto.Error
	var failed *stepError
	switch {
	case errors.As(err, &reply):
		if errors.As(err, &failed) && aboutRecipient(failed.step, reply) {
			return delivery.ErrorRefused
		}
		return delivery.ErrorServer
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return delivery.ErrorTimeout
	case errors.As(err, &dns):
		return delivery.ErrorResolve
	case errors.As(err, &certificate):
		return delivery.ErrorTLS
	}
	return delivery.ErrorConnection
}

// status is an enhanced status code (RFC 3463): its class, its subject and its detail.
var status = regexp.MustCompile(`^([245])\.(\d{1,3}\.\d{1,3})\b`)

// ofAddress are the statuses that say of the recipient's address that it leads nowhere. The
// others of the subject 1 are about the sender, or do not say about whom they are.
var ofAddress = []string{"1.1", "1.2", "1.3", "1.4", "1.6", "1.10"}

// aboutRecipient reports whether a reply is a refusal for ever because of the recipient's
// address or mailbox, and not because of the sender, the relay or the content. One without
// a status is if it names a mailbox (RFC 5321, 4.2.3) and answers the recipient.
func aboutRecipient(at step, reply *textproto.Error) bool {
	if reply.Code < 500 || at == stepGreeting || at == stepSender {
		return false
	}
	found := status.FindStringSubmatch(reply.Msg)
	if found == nil {
		return at == stepRecipient && slices.Contains([]int{550, 551, 553}, reply.Code)
	}
	return found[1] == "5" && (strings.HasPrefix(found[2], "2.") || slices.Contains(ofAddress, found[2]))
}

var address = regexp.MustCompile(`[^\s<>:"]+@[^\s<>:"]+`)

// words returns an error for people: without addresses and the password, which a server may
// repeat, on one line.
func (c *Client) words(err error) string {
	text := err.Error()
	var reply *textproto.Error
	if errors.As(err, &reply) {
		text = fmt.Sprint(reply.Code, " ", reply.Msg)
	} else if errors.Is(err, net.ErrClosed) { // at the end of the context
		text = "no response in time"
	}
	var failed *stepError
	if errors.As(err, &failed) {
		text = failed.step.name + ": " + text
	}
	if c.options.Password != "" {
		text = strings.ReplaceAll(text, c.options.Password, "(password)")
	}
	return strict.Words(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, address.ReplaceAllString(strings.ToValidUTF8(text, ""), "(address)")))
}

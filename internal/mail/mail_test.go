package mail_test

import (
	"context"
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/mail"
	"merchantorders/internal/mail/mailtest"
	"merchantorders/internal/testenv"
	"merchantorders/internal/webhook"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestSend sends e-mails to a real mail server over each kind of connection, and checks what
// becomes of those that cannot be sent.
func TestSend(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.NoError(t, err)
	defer func() { _ = silent.Close() }()
	good := mail.Options{
		Host: "127.0.0.1", Port: server.STARTTLS, User: mailtest.User, Password: mailtest.Password, From: "orders@example.com", Roots: server.Roots,
	}
	message := webhook.Mail{
		ID: "mail_1", At: noon, To: "a@example.com", Subject: "3 νέες\r\nBcc: b@example.com", Body: "Ω " + strings.Repeat("x", 2000) + "\n.\n", End: "https://orders.example.com/end/1",
	}
	for name, c := range map[string]struct {
		change func(o *mail.Options, m *webhook.Mail)
		want   string // Result.Error
	}{
		"STARTTLS":           {nil, ""},
		"TLS":                {func(o *mail.Options, _ *webhook.Mail) { o.Port, o.TLS = server.TLS, true }, ""},
		"on this machine":    {func(o *mail.Options, _ *webhook.Mail) { o.Port, o.Plain, o.User = server.Plain, true, "" }, ""},
		"no TLS elsewhere":   {func(o *mail.Options, _ *webhook.Mail) { o.Port, o.User = server.Plain, "" }, webhook.ErrorConnection},
		"unknown authority":  {func(o *mail.Options, _ *webhook.Mail) { o.Roots = x509.NewCertPool() }, webhook.ErrorTLS},
		"wrong password":     {func(o *mail.Options, _ *webhook.Mail) { o.Password = "x" }, webhook.ErrorConnection},
		"nobody listens":     {func(o *mail.Options, _ *webhook.Mail) { o.Port = 1 }, webhook.ErrorConnection},
		"no answer":          {func(o *mail.Options, _ *webhook.Mail) { o.Port = silent.Addr().(*net.TCPAddr).Port }, webhook.ErrorTimeout},
		"refused":            {func(_ *mail.Options, m *webhook.Mail) { m.To = "refused@example.com" }, webhook.ErrorRefused},
		"refused for now":    {func(_ *mail.Options, m *webhook.Mail) { m.To = "later@example.com" }, webhook.ErrorConnection},
		"line breaks in To":  {func(_ *mail.Options, m *webhook.Mail) { m.To = "a@example.com\r\nRCPT TO:<b@example.com>" }, webhook.ErrorConnection},
		"two recipients":     {func(_ *mail.Options, m *webhook.Mail) { m.To = "a@example.com, b@example.com" }, webhook.ErrorConnection},
		"line breaks in end": {func(_ *mail.Options, m *webhook.Mail) { m.End = "https://a.example/\r\nX: 1" }, ""},
	} {
		o, m := good, message
		if c.change != nil {
			c.change(&o, &m)
		}
		limit := testenv.WaitTimeout
		if c.want == webhook.ErrorTimeout {
			limit = 100 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		got := mail.NewClient(o).Send(ctx, m)
		cancel()
		if got.Error != c.want {
			t.Errorf("%s: %q, want %q", name, got.Error, c.want)
		}
		if got.Error != "" {
			continue
		}
		arrived := server.Next(t)
		for field, want := range map[string]string{
			"From": "<orders@example.com>", "To": "<a@example.com>", "Date": "Fri, 20 Nov 2026 12:00:00 +0000", "Message-Id": "<mail_1@example.com>",
			"Auto-Submitted": "auto-generated", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click", "Bcc": "", "X": "",
		} {
			if value := arrived.Header.Get(field); value != want {
				t.Errorf("%s: %s is %q", name, field, value)
			}
		}
		if end := arrived.Header.Get("List-Unsubscribe"); name != "line breaks in end" && end != "<"+m.End+">" {
			t.Errorf("%s: List-Unsubscribe is %q", name, end)
		}
		if arrived.From != "orders@example.com" || len(arrived.To) != 1 || !strings.HasPrefix(arrived.Subject(), "3 νέες") || arrived.Body != m.Body {
			t.Errorf("%s: %+v", name, arrived)
		}
	}
	select {
	case m := <-server.Mails:
		t.Errorf("an e-mail that was not sent: %+v", m)
	default:
	}
}

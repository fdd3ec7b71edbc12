package mail_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/mail"
	"merchantorders/internal/mail/mailtest"
	"merchantorders/internal/testenv"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestSend sends e-mails to a real mail server over each kind of connection, and checks what
// becomes of those that cannot be sent.
func TestSend(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t)
	silent := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	defer func() { _ = silent.Close() }()
	good := mail.Options{
		Host: "127.0.0.1", Port: server.STARTTLS, User: mailtest.User, Password: mailtest.Password, From: "orders@example.com", Roots: server.Roots,
	}
	message := digest.Mail{
		ID: "mail_1", At: noon, To: "a@example.com", Subject: "3 νέες\r\nBcc: b@example.com", Body: "Ω " + strings.Repeat("x", 2000) + "\n.\n", End: "https://orders.example.com/end/1",
	}
	for name, c := range map[string]struct {
		change func(o *mail.Options, m *digest.Mail)
		want   string // Result.Error
	}{
		"STARTTLS":           {nil, ""},
		"TLS":                {func(o *mail.Options, _ *digest.Mail) { o.Port, o.TLS = server.TLS, true }, ""},
		"on this machine":    {func(o *mail.Options, _ *digest.Mail) { o.Port, o.Plain, o.User = server.Plain, true, "" }, ""},
		"no TLS elsewhere":   {func(o *mail.Options, _ *digest.Mail) { o.Port, o.User = server.Plain, "" }, delivery.ErrorConnection},
		"unknown authority":  {func(o *mail.Options, _ *digest.Mail) { o.Roots = x509.NewCertPool() }, delivery.ErrorTLS},
		"wrong password":     {func(o *mail.Options, _ *digest.Mail) { o.Password = "x" }, delivery.ErrorServer},
		"nobody listens":     {func(o *mail.Options, _ *digest.Mail) { o.Port = 1 }, delivery.ErrorConnection},
		"no answer":          {func(o *mail.Options, _ *digest.Mail) { o.Port = silent.Addr().(*net.TCPAddr).Port }, delivery.ErrorTimeout},
		"refused":            {func(_ *mail.Options, m *digest.Mail) { m.To = "refused@example.com" }, delivery.ErrorRefused},
		"refused for now":    {func(_ *mail.Options, m *digest.Mail) { m.To = "later@example.com" }, delivery.ErrorServer},
		"line breaks in To":  {func(_ *mail.Options, m *digest.Mail) { m.To = "a@example.com\r\nRCPT TO:<b@example.com>" }, delivery.ErrorConnection},
		"two recipients":     {func(_ *mail.Options, m *digest.Mail) { m.To = "a@example.com, b@example.com" }, delivery.ErrorConnection},
		"line breaks in end": {func(_ *mail.Options, m *digest.Mail) { m.End = "https://a.example/\r\nX: 1" }, ""},
	} {
		o, m := good, message
		if c.change != nil {
			c.change(&o, &m)
		}
		limit := testenv.WaitTimeout
		if c.want == delivery.ErrorTimeout {
			limit = 100 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		got := mail.NewClient(o).Send(ctx, m)
		cancel()
		testenv.Equal(t, name, c.want, got.Error)
		testenv.Lacks(t, name, got.Response, "closed network connection")
		if got.Error != "" {
			continue
		}
		arrived := server.Next(t)
		for field, want := range map[string]string{
			"From": "<orders@example.com>", "To": "<a@example.com>", "Date": "Fri, 20 Nov 2026 12:00:00 +0000", "Message-Id": "<mail_1@example.com>",
			"Auto-Submitted": "auto-generated", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click", "Bcc": "", "X": "",
		} {
			testenv.Equal(t, fmt.Sprintf("%s: %s", name, field), want, arrived.Header.Get(field))
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

// moody starts a mail server that answers as a test says: by the beginning of the command,
// "." for the end of the content and "" for the greeting. The other commands succeed. It
// returns its port, and a function that returns the commands so far.
func moody(t *testing.T, answers map[string]string) (port int, commands func() []string) {
	t.Helper()
	listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	t.Cleanup(func() { _ = listener.Close() })
	var mu sync.Mutex
	var heard []string
	go func() {
		for connection, err := listener.Accept(); err == nil; connection, err = listener.Accept() {
			lines := textproto.NewConn(connection)
			answer := func(command, usual string) bool {
				for beginning, text := range answers {
					if (beginning == "") == (command == "") && strings.HasPrefix(command, beginning) {
						usual = text
					}
				}
				return usual == "silence" || lines.PrintfLine("%s", usual) == nil
			}
			for ok := answer("", "220 mx.example.com"); ok; {
				line, err := lines.ReadLine()
				if err != nil {
					break
				}
				mu.Lock()
				heard = append(heard, line)
				mu.Unlock()
				switch line {
				case "DATA":
					if ok = answer(line, "354 go on"); answers["DATA"] == "" {
						_, _ = lines.ReadDotBytes()
						ok = answer(".", "250 OK")
					}
				default:
					ok = answer(line, "250 OK")
				}
			}
			_ = connection.Close()
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(heard)
	}
}

// TestRefusals checks which replies say that the address leads nowhere: not those about the
// sender, the relay, the content, or a time that passes.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ command, reply, want string }{
		{"RCPT", "550 5.1.1 <a@example.com>: user unknown", delivery.ErrorRefused},
		{"RCPT", "550-5.1.1 no such account\r\n550 5.1.1 see https://example.com", delivery.ErrorRefused},
		{"RCPT", "550 5.2.1 mailbox disabled", delivery.ErrorRefused},
		{"RCPT", "552 5.2.2 mailbox full", delivery.ErrorRefused},
		{"RCPT", "556 5.1.10 the domain takes no e-mail", delivery.ErrorRefused},
		{"RCPT", "550 no such user", delivery.ErrorRefused},
		{"RCPT", "553 mailbox name not allowed", delivery.ErrorRefused},
		{".", "550 5.1.1 user unknown", delivery.ErrorRefused},
		{"RCPT", "450 4.2.0 greylisted", delivery.ErrorServer},
		{"RCPT", "550 4.2.2 later", delivery.ErrorServer},
		{"RCPT", "550 5.1.0 sender address rejected", delivery.ErrorServer},
		{"RCPT", "550 5.1.8 the sender's domain does not exist", delivery.ErrorServer},
		{"RCPT", "550 5.7.1 relaying denied", delivery.ErrorServer},
		{"RCPT", "554 5.7.1 blocked; see a@example.com", delivery.ErrorServer},
		{"RCPT", "550 5.4.1 access denied", delivery.ErrorServer},
		{"RCPT", "554 no", delivery.ErrorServer},
		{"MAIL", "550 5.1.1 unknown sender", delivery.ErrorServer},
		{"MAIL", "553 not you", delivery.ErrorServer},
		{"DATA", "550 no", delivery.ErrorServer},
		{".", "550 spam", delivery.ErrorServer},
		{".", "554 5.6.0 what is this", delivery.ErrorServer},
		{"EHLO", "550 5.1.1 who are you", delivery.ErrorServer},
		{"", "554 5.7.1 blocked", delivery.ErrorServer},
		{".", "silence", delivery.ErrorTimeout},
	} {
		port, _ := moody(t, map[string]string{row.command: row.reply, "HELO": "550 no"})
		client := mail.NewClient(mail.Options{Host: "127.0.0.1", Port: port, Plain: true, From: "orders@example.com", Hello: "orders.example.com", Patience: 200 * time.Millisecond})
		got := client.Send(t.Context(), digest.Mail{ID: "mail_1", At: noon, To: "a@example.com", Subject: "x", Body: "x"})
		words := strings.TrimSpace(strings.TrimPrefix(row.reply, "550-"))
		if first, _, ok := strings.Cut(words, " "); got.Error != row.want || ok && !strings.Contains(got.Response, first) || strings.Contains(got.Response, "@") {
			t.Errorf("%s %s: %+v, want %q", row.command, row.reply, got, row.want)
		}
		testenv.Equal(t, row.command+" "+row.reply+": the check fails", slices.Contains([]string{"", "EHLO", "MAIL"}, row.command), client.Check(t.Context()) != nil)
	}
}

// TestCommands checks what the server hears: the name of the service, and SMTPUTF8 only for
// an address that needs it.
func TestCommands(t *testing.T) {
	t.Parallel()
	for sender, parameter := range map[string]string{"orders@example.com": "", "παραγγελίες@example.com": " SMTPUTF8"} {
		port, commands := moody(t, map[string]string{"EHLO": "250-mx.example.com\r\n250-8BITMIME\r\n250 SMTPUTF8"})
		got := mail.NewClient(mail.Options{Host: "127.0.0.1", Port: port, Plain: true, From: sender, Hello: "orders.example.com"}).Send(t.Context(), digest.Mail{
			ID: "mail_1", At: noon, To: "a@example.com", Subject: "Νέες", Body: "Ω",
		})
		want := []string{"EHLO orders.example.com", "MAIL FROM:<" + sender + "> BODY=8BITMIME" + parameter, "RCPT TO:<a@example.com>", "DATA", "QUIT"}
		if diff := cmp.Diff(want, commands()); got.Error != "" || diff != "" {
			t.Errorf("%+v (-want +got):\n%s", got, diff)
		}
	}
}

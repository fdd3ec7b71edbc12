// Package mailtest starts a mail server for tests.
package mailtest

import (
	"bufio"
	"bytes"
	"crypto/x509"
	_ "embed"
	"encoding/json"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"merchantorders/internal/certtest"
	"merchantorders/internal/testenv"
)

//go:embed server.py
var program []byte

// The user that the server knows.
const (
	User     = "orders"
	Password = "secret"
)

// Server is a mail server of Debian. It refuses addresses that begin with refused for
// ever, and those that begin with later for now.
type Server struct {
	Plain, STARTTLS, TLS int            // ports; the last two need the user
	Roots                *x509.CertPool // for TLS
	Mails                <-chan Mail    // that the server has taken
}

// Mail is an e-mail that has arrived.
type Mail struct {
	From   string
	To     []string
	Header mail.Header
	Body   string
}

// Subject returns the decoded subject.
func (m Mail) Subject() string {
	subject, _ := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	return subject
}

// Start starts a server that runs until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	testenv.Program(t, "aiosmtpd", "python3-aiosmtpd")
	pair := certtest.New(t, time.Now().AddDate(1, 0, 0))
	file := filepath.Join(t.TempDir(), "server.py")
	testenv.NoError(t, os.WriteFile(file, program, 0o600))
	// Debian's own, for which the package is.
	cmd := exec.Command("/usr/bin/python3", file, pair.Cert, pair.Key)
	cmd.Stderr = t.Output()
	input := testenv.Of(cmd.StdinPipe()).Must(t)
	output, writer := io.Pipe()
	cmd.Stdout = writer
	ended := testenv.Of(testenv.StartServer(cmd, syscall.SIGKILL)).Must(t)
	lines := bufio.NewReader(output)
	mails := make(chan Mail, 100)
	t.Cleanup(func() {
		_ = input.Close()
		_ = output.Close()
		_ = cmd.Process.Kill()
		<-ended
		for range mails { // until the reader has ended
		}
	})
	first := testenv.Of(lines.ReadBytes('\n')).Must(t)
	var ports []int
	testenv.NoError(t, json.Unmarshal(first, &ports))
	go func() {
		defer close(mails)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			mails <- parse(t, line)
		}
	}()
	return &Server{Plain: ports[0], STARTTLS: ports[1], TLS: ports[2], Roots: pair.Pool, Mails: mails}
}

func parse(t testing.TB, line []byte) Mail {
	var m struct {
		Mail
		Message string
	}
	testenv.NoError(t, json.Unmarshal(line, &m))
	message, err := mail.ReadMessage(strings.NewReader(m.Message))
	if err != nil {
		t.Errorf("an e-mail that is none: %v\n%s", err, m.Message)
		return m.Mail
	}
	m.Header = message.Header
	body := message.Body
	if m.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	text, _ := io.ReadAll(body)
	m.Body = string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	return m.Mail
}

// Next waits for the next e-mail.
func (s *Server) Next(t testing.TB) Mail {
	t.Helper()
	select {
	case m := <-s.Mails:
		return m
	case <-time.After(testenv.WaitTimeout):
		t.Fatal("no e-mail has arrived")
		return Mail{}
	}
}

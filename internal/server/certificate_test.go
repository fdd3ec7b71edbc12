package server

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/certtest"
	"merchantorders/internal/testenv"
)

// tlsFiles are the files of a TLS server, with a clock.
type tlsFiles struct {
	mu   sync.Mutex
	at   time.Time
	pair certtest.Pair
	err  error
	log  bytes.Buffer
}

func (f *tlsFiles) read() (tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return tls.Certificate{}, f.err
	}
	return tls.LoadX509KeyPair(f.pair.Cert, f.pair.Key)
}

func (f *tlsFiles) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

// change changes the files or the clock.
func (f *tlsFiles) change(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn()
}

// TestCertificateIsReloaded changes the files of a server: new connections get the new
// certificate after a while, open ones stay open, and a bad pair changes nothing.
func TestCertificateIsReloaded(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	first, second := certtest.New(t, start.AddDate(1, 0, 0)), certtest.New(t, start.AddDate(2, 0, 0))
	expired := certtest.New(t, start.AddDate(-1, 0, 0))
	files := &tlsFiles{at: start, pair: first}
	log := slog.New(slog.NewTextHandler(&files.log, nil))
	certificate := testenv.Of(NewCertificate(files.read, files.now, log)).Must(t)
	listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	options := roomy
	options.TLS = certificate.TLS()
	stop, wait := run(t, listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), slog.New(slog.DiscardHandler), options)
	connect := func(pair certtest.Pair) (*tls.Conn, error) {
		// The clock of the server is not that of the client.
		return tls.Dial("tcp", listener.Addr().String(), &tls.Config{RootCAs: pair.Pool, Time: func() time.Time { return start.AddDate(-2, 0, 0) }})
	}
	serves := func(name string, pair, other certtest.Pair) *tls.Conn {
		t.Helper()
		conn, err := connect(pair)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if conn, err := connect(other); err == nil {
			conn.Close()
			t.Errorf("%s: the other certificate", name)
		}
		return conn
	}
	open := serves("at first", first, second)
	files.change(func() { files.pair = second })
	serves("before the interval", first, second).Close()
	files.change(func() { files.at, files.err = start.Add(certificateInterval), errors.New("the key is bad") })
	serves("a bad pair", first, second).Close()
	files.change(func() { files.at = start.Add(2 * certificateInterval) })
	serves("a bad pair again", first, second).Close()
	files.change(func() { files.at, files.err, files.pair = start.Add(3*certificateInterval), nil, expired })
	serves("an expired one", first, expired).Close()
	files.change(func() { files.at, files.pair = start.Add(4*certificateInterval), second })
	serves("a good pair", second, first).Close()
	if end := certificate.End(); !end.Equal(start.AddDate(2, 0, 0)) || !(*Certificate)(nil).End().IsZero() {
		t.Errorf("the certificate ends at %s", end)
	}
	files.change(func() { files.pair = expired })
	if pair, err := files.read(); err != nil || certificate.Check(pair) == nil {
		t.Errorf("an expired certificate passes: %v", err)
	}
	files.change(func() { files.pair = first })
	certificate.Reload(files.read)
	serves("after a reload", first, second).Close()
	testenv.Of(io.WriteString(open, aRequest)).Must(t)
	if got := read(t, open); got.status != http.StatusOK || got.close {
		t.Errorf("the open connection: %+v", got)
	}
	open.Close()
	stop()
	wait()
	for text, want := range map[string]int{"level=WARN": 2, "the key is bad": 1, "TLS certificate changed": 2, "has expired": 1} {
		testenv.Equal(t, text, want, strings.Count(files.log.String(), text))
	}
}

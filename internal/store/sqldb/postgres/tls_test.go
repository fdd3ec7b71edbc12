package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"merchantorders/internal/certtest"
	"merchantorders/internal/testenv"
)

// TestEncryptionByDefault checks that connections to another machine are encrypted and
// verified, unless the URL says otherwise.
func TestEncryptionByDefault(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	t.Setenv("PGHOST", "")
	const verified, any, none = "verified", "any", "none"
	mode := func(address string) string {
		t.Helper()
		config, err := parseURL(address)
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		modes := make(map[string]bool)
		all := []*tls.Config{config.ConnConfig.TLSConfig}
		for _, fallback := range config.ConnConfig.Fallbacks {
			all = append(all, fallback.TLSConfig)
		}
		for _, one := range all {
			switch {
			case one == nil:
				modes[none] = true
			case one.InsecureSkipVerify:
				modes[any] = true
			default:
				modes[verified] = true
			}
		}
		if len(modes) > 1 {
			return any
		}
		for mode := range modes {
			return mode
		}
		return ""
	}
	for address, want := range map[string]string{
		"postgres://u:p@db.example.com/orders":                                      verified,
		"postgres://u:p@192.0.2.1:5433/orders?pool_max_conns=4":                     verified,
		"postgres://u:p@[2001:db8::1]/orders":                                       verified,
		"postgres://u:p@localhost,db.example.com:5433/orders":                       verified,
		"postgres:///orders?host=db.example.com":                                    verified,
		"postgresql://db.example.com/orders?target_session_attrs=read-write":        verified,
		"postgres://u:p@db.example.com/orders?sslmode=disable":                      none,
		"postgres://u:p@db.example.com/orders?sslmode=prefer":                       any,
		"postgres://u:p@db.example.com/orders?sslmode=require&pool_max_conns=4":     any,
		"postgres://u:p@db.example.com/orders?pool_max_conns=4&sslmode=verify-full": verified,
		"postgres://u:p@localhost/orders":                                           any,
		"postgres://u:p@127.0.0.1:5433/orders":                                      any,
		"postgres://u:p@[::1]/orders":                                               any,
		"postgres:///orders?host=/var/run/postgresql":                               none,
	} {
		testenv.Equal(t, address, want, mode(address))
	}
	services := filepath.Join(t.TempDir(), "services")
	testenv.NoError(t, os.WriteFile(services, []byte("[a]\nhost=db.example.com\nsslmode=disable\n[b]\nhost=db.example.com\n"), 0o600))
	for service, want := range map[string]string{"a": none, "b": verified} {
		testenv.Equal(t, "of the service "+service, want, mode("postgres:///orders?servicefile="+services+"&service="+service))
	}
	if _, err := parseURL("postgres://db/orders?sslmode=verify-full&sslrootcert=/nowhere.pem"); err == nil || !strings.Contains(err.Error(), "/nowhere.pem") {
		t.Errorf("a file that is missing: %v", err)
	}
	t.Setenv("PGSSLMODE", "disable")
	testenv.Equal(t, "with PGSSLMODE=disable", none, mode("postgres://u:p@db.example.com/orders"))
}

// TestEncryptionFails connects to servers whose certificate is not valid, or that
// refuse TLS: the error says what to do, and nothing is sent without encryption.
func TestEncryptionFails(t *testing.T) {
	t.Parallel()
	pair := certtest.New(t, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	certificate := testenv.Of(tls.LoadX509KeyPair(pair.Cert, pair.Key)).Must(t)
	const hint = "the default for other machines is sslmode=verify-full"
	root := "?sslrootcert=" + url.QueryEscape(pair.Cert)
	for _, test := range []struct {
		name, address string
		tls           bool
		want          []string // in the error
		encrypted     bool     // the server got further than TLS
	}{
		{"no TLS", "postgres://u:p@" + certtest.Host + "/orders", false, []string{"the server refuses TLS", "sslmode=disable", hint}, false},
		{"an unknown issuer", "postgres://u:p@" + certtest.Host + "/orders", true, []string{"the certificate of the server is not valid (x509: ", "sslrootcert=FILE", hint}, false},
		{"another host", "postgres://u:p@other.example.com/orders" + root, true, []string{"not other.example.com", hint}, false},
		{"valid", "postgres://u:p@" + certtest.Host + "/orders" + root, true, nil, true},
	} {
		config, err := parseURL(test.address)
		testenv.NoError(t, err)
		server := &fakeServer{done: make(chan error, 1)}
		if test.tls {
			server.tls = &tls.Config{Certificates: []tls.Certificate{certificate}}
		}
		config.ConnConfig.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"192.0.2.1"}, nil }
		config.ConnConfig.DialFunc = server.dial
		_, err = pgx.ConnectConfig(t.Context(), config.ConnConfig)
		if err == nil {
			t.Fatalf("%s: connected", test.name)
		}
		text := openError(config.ConnConfig, err).Error()
		for _, part := range test.want {
			testenv.Contains(t, test.name, text, part)
			testenv.Lacks(t, test.name, text, "\n")
		}
		if encrypted := <-server.done == nil; encrypted != test.encrypted {
			t.Errorf("%s: the server got a start-up message: %v, want %v", test.name, encrypted, test.encrypted)
		}
	}
}

// TestEncryptionPreferred has the error of a server that refuses TLS, and then a connection
// without it.
func TestEncryptionPreferred(t *testing.T) {
	t.Parallel()
	refused := &pgconn.PgError{Message: `database "x" does not exist`, Code: "3D000"}
	testenv.Equal(t, "error", `database "x" does not exist (SQLSTATE 3D000)`, shortError(errors.Join(errors.New(tlsRefused), refused)).Error())
}

// fakeServer is a PostgreSQL server that closes its only connection after the first
// message.
type fakeServer struct {
	tls    *tls.Config // nil: refuses TLS
	dialed atomic.Bool
	done   chan error // nil if a start-up message came
}

// dial connects to the server, whatever the address. It fails after the first time: the
// client cancels requests on a connection of its own, at some later time.
func (s *fakeServer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if s.dialed.Swap(true) {
		return nil, errors.New("there was a connection")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			err = errors.Join(s.serve(conn), conn.Close())
		}
		s.done <- errors.Join(err, listener.Close())
	}()
	return new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
}

func (s *fakeServer) serve(conn net.Conn) error {
	request := make([]byte, 8) // SSLRequest
	if _, err := io.ReadFull(conn, request); err != nil {
		return err
	}
	answer := "S"
	if s.tls == nil {
		answer = "N"
	}
	if _, err := io.WriteString(conn, answer); err != nil {
		return err
	}
	encrypted := conn
	if s.tls != nil {
		encrypted = tls.Server(conn, s.tls)
	}
	_, err := io.ReadFull(encrypted, request)
	return err
}

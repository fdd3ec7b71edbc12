package apptest

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/app/commands"
	"merchantorders/openapi/openapitest"
)

// noLimits is the first flag of a server: tests send more requests a second than a
// client may. A test of the limits overrides it.
const noLimits = "--rate-limit=0"

// Server is a server in this process.
type Server struct {
	Folder
	BaseURL string // http://127.0.0.1:PORT
	Token   string // of merchant MerchantID, all scopes

	stdout, log *output
	cancel      context.CancelFunc
	ended       chan struct{}
	code        int // once ended
	stopping    sync.Once
}

// Start starts a server on a new data folder and a free port. flags are further
// flags of serve. It adds merchant MerchantID, unless --demo adds it. The server
// is stopped when the test ends.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	return StartWith(t, nil, flags...)
}

// StartWith is like Start, with the settings of a Folder.
func StartWith(t testing.TB, settings []string, flags ...string) *Server {
	t.Helper()
	s := Folder{Data: filepath.Join(t.TempDir(), "data"), Settings: settings}.Serve(t, flags...)
	if slices.Contains(flags, "--demo") {
		s.Token = s.Folder.Token(t, "--merchant", "355")
	} else {
		s.Token = s.Merchant(t, MerchantID)
	}
	return s
}

// StartOn is like Start on a given data folder, which may have data. It adds no
// merchant, and Token is empty.
func StartOn(t testing.TB, data string, flags ...string) *Server {
	t.Helper()
	return Folder{Data: data}.Serve(t, flags...)
}

// Serve is like StartOn, with the settings of the folder. The test fails if the
// OpenAPI documents do not describe the requests and responses of the server.
func (f Folder) Serve(t testing.TB, flags ...string) *Server {
	t.Helper()
	return f.ServeLimited(t, append([]string{noLimits}, flags...)...)
}

// ServeLimited is like Serve, with the default rate limit.
func (f Folder) ServeLimited(t testing.TB, flags ...string) *Server {
	t.Helper()
	return f.start(t, openapitest.CheckHandler, flags...)
}

// ServeUnchecked is like Serve, for requests that the OpenAPI documents do not
// describe.
func (f Folder) ServeUnchecked(t testing.TB, flags ...string) *Server {
	t.Helper()
	unchanged := func(testing.TB) func(http.Handler) http.Handler {
		return func(h http.Handler) http.Handler { return h }
	}
	return f.start(t, unchanged, append([]string{noLimits}, flags...)...)
}

// start starts a server whose handler check wraps.
func (f Folder) start(t testing.TB, check func(testing.TB) func(http.Handler) http.Handler, flags ...string) *Server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{Folder: f, stdout: newOutput(), log: newOutput(), cancel: cancel, ended: make(chan struct{})}
	showAfterFailure(t, s.log)
	wrapped := commands.WrapHandler(check(t))
	args := f.arguments(append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)
	go func() {
		defer close(s.ended)
		s.code = commands.Run(ctx, args, strings.NewReader(""), s.stdout, s.log, f.Environ, wrapped)
	}()
	t.Cleanup(func() { s.Stop(t) })
	s.BaseURL = s.stdout.address(t, s.ended, s.log)
	return s
}

// Stop stops the server gracefully and waits for its end. The test fails unless
// the exit code is 0. Further calls do nothing.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.stopping.Do(func() {
		s.cancel()
		<-s.ended
		if s.code != 0 {
			t.Errorf("the server ended with exit code %d:\n%s", s.code, s.log)
		}
	})
}

// Stdout returns the server's standard output so far.
func (s *Server) Stdout() string { return s.stdout.String() }

// Listening returns what the server prints when it listens.
func (s *Server) Listening() string {
	return "The admin listener is " + s.AdminURL() + "\nMerchant Orders listens on " + s.BaseURL + "\n"
}

// AdminURL returns the address of the admin listener, if the server has one.
func (s *Server) AdminURL() string { return s.listener("admin") }

// Address is the function Address for the server.
func (s *Server) Address(path string) string { return Address(s.BaseURL, path) }

// MetricsURL returns the address of the listener for metrics, if the server has one.
func (s *Server) MetricsURL() string { return s.listener("metrics") }

func (s *Server) listener(name string) string {
	_, rest, _ := strings.Cut(s.Stdout(), "The "+name+" listener is ")
	url, _, _ := strings.Cut(rest, "\n")
	return url
}

// Log returns the server's standard error so far, one JSON object a line.
func (s *Server) Log() string { return s.log.String() }

package e2e

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
)

// backend is a database and a file store that the service can run on.
type backend struct {
	name  string
	start func(t *testing.T, flags ...string) *apptest.Server
	// again starts a server on what a stopped one has left.
	again func(t *testing.T, stopped *apptest.Server) *apptest.Server
}

// backends are those that every scenario runs over.
var backends = []backend{
	{
		name:  "sqlite-disk",
		start: func(t *testing.T, flags ...string) *apptest.Server { return apptest.Start(t, flags...) },
		again: func(t *testing.T, stopped *apptest.Server) *apptest.Server { return apptest.StartOn(t, stopped.Data) },
	},
}

// onEveryBackend runs a scenario on a service of its own on each backend, with
// further flags of serve.
func onEveryBackend(t *testing.T, scenario func(t *testing.T, s *service), flags ...string) {
	t.Helper()
	t.Parallel()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, newService(t, b.start(t, flags...)))
		})
	}
}

// service is a running service and the merchant that requests stand for unless
// they say otherwise: 355 at first.
type service struct {
	*apptest.Server
	client *http.Client
	token  string // of the merchant, all scopes
}

// answerTimeout is how long an answer may take. Only a test that fails waits
// that long.
const answerTimeout = time.Minute

func newService(t *testing.T, server *apptest.Server) *service {
	transport := &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &service{
		Server: server,
		token:  server.Token,
		client: &http.Client{
			Transport: transport, Timeout: answerTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// actingFor returns the service with the requests of another merchant, who is
// added where it is not there.
func (s *service) actingFor(t *testing.T, merchant int) *service {
	t.Helper()
	other := *s
	other.token = s.Merchant(t, int64(merchant))
	return &other
}

// dataFolder is a data folder without a server.
func dataFolder(t *testing.T) apptest.Folder {
	t.Helper()
	return apptest.Folder{Data: filepath.Join(t.TempDir(), "elsewhere")}
}

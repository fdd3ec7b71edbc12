package e2e

import (
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
)

// backend is a database and a file store that the service can run on.
type backend struct {
	name string
	// settings returns the flags of a new, empty installation.
	settings func(t *testing.T) []string
}

// start starts a server on a new installation.
func (b backend) start(t *testing.T, flags ...string) *apptest.Server {
	return apptest.StartWith(t, b.settings(t), flags...)
}

// again starts a server on what a stopped one has left.
func (b backend) again(t *testing.T, stopped *apptest.Server) *apptest.Server {
	return stopped.Serve(t)
}

// backends are those that every scenario runs over.
var backends = []backend{
	{"sqlite-disk", func(*testing.T) []string { return nil }},
	{"sqlite-s3", func(t *testing.T) []string { return []string{"--storage", bucket(t)} }},
	{"postgres-disk", func(t *testing.T) []string { return []string{"--database", pgtest.Database(t)} }},
	{"postgres-s3", func(t *testing.T) []string {
		return []string{"--database", pgtest.Database(t), "--storage", bucket(t)}
	}},
}

// bucket returns the address of a new bucket, as --storage takes it.
func bucket(t *testing.T) string {
	name, endpoint := s3test.Bucket(t)
	return "s3://" + name + "?region=" + s3test.Region + "&endpoint=" + url.QueryEscape(endpoint)
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
	client  *http.Client
	token   string // of the merchant, all scopes
	storage string // path below which it serves stored files
}

// answerTimeout is how long an answer may take. Only a test that fails waits
// that long.
const answerTimeout = time.Minute

func newService(t *testing.T, server *apptest.Server) *service {
	transport := &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &service{
		Server:  server,
		token:   server.Token,
		storage: storagePath(server.Settings),
		client: &http.Client{
			Transport: transport, Timeout: answerTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// storagePath returns the path of stored files: it has the region and the bucket
// of the storage (decision 6).
func storagePath(settings []string) string {
	at := slices.Index(settings, "--storage")
	if at < 0 {
		return "/storage/local/merchant-orders"
	}
	bucket, _, _ := strings.Cut(strings.TrimPrefix(settings[at+1], "s3://"), "?")
	return "/storage/" + s3test.Region + "/" + bucket
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

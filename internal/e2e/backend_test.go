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

// backend is a database and a file storage that the service runs on.
type backend struct {
	name string
	// settings returns the flags of a new, empty installation.
	settings func(t *testing.T) []string
}

// start starts a server on a new installation.
func (b backend) start(t *testing.T, flags ...string) *apptest.Server {
	return apptest.StartWith(t, b.settings(t), flags...)
}

// backends are all combinations of a database and a file storage.
var backends = []backend{
	{"sqlite-disk", func(*testing.T) []string { return nil }},
	{"sqlite-s3", func(t *testing.T) []string { return []string{"--storage", bucket(t)} }},
	{"postgres-disk", func(t *testing.T) []string {
		return []string{"--database", pgtest.Database(t), "--storage", "file://" + t.TempDir() + "/files"}
	}},
	{"postgres-s3", func(t *testing.T) []string {
		return []string{"--database", pgtest.Database(t), "--storage", bucket(t)}
	}},
}

// onSQLite runs a scenario on SQLite and the disk. It is for scenarios in which neither
// database nor storage decides anything: how requests are parsed, refused and limited,
// and how responses are written.
func onSQLite(t *testing.T, scenario func(t *testing.T, s *service), flags ...string) {
	t.Helper()
	runOn(t, backends[:1], scenario, flags...)
}

// onBothDatabases runs a scenario on two of the backends, which have both
// databases and both storages. It is for scenarios that do not depend on how
// database and storage work together. flags are further flags of serve.
func onBothDatabases(t *testing.T, scenario func(t *testing.T, s *service), flags ...string) {
	t.Helper()
	runOn(t, []backend{backends[0], backends[3]}, scenario, flags...)
}

// onEveryBackend runs a scenario on all backends.
func onEveryBackend(t *testing.T, scenario func(t *testing.T, s *service), flags ...string) {
	t.Helper()
	runOn(t, backends, scenario, flags...)
}

// runOn starts a new service on each of the backends and runs a scenario on it.
func runOn(t *testing.T, on []backend, scenario func(t *testing.T, s *service), flags ...string) {
	t.Helper()
	t.Parallel()
	for _, b := range on {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, newService(t, b.start(t, flags...)))
		})
	}
}

// bucket creates a bucket and returns its URL, as the flag --storage takes it.
func bucket(t *testing.T) string {
	name, endpoint := s3test.Bucket(t)
	return "s3://" + name + "?region=" + s3test.Region + "&endpoint=" + url.QueryEscape(endpoint)
}

// service is a running service and the merchant whose token requests have,
// unless they set another one.
type service struct {
	*apptest.Server
	client  *http.Client
	token   string // of the merchant, with all scopes
	storage string // path prefix of stored files
}

// responseTimeout is how long a response may take. Only a test that fails waits
// that long.
const responseTimeout = 3 * time.Minute

func newService(t *testing.T, server *apptest.Server) *service {
	transport := &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &service{
		Server:  server,
		token:   server.Token,
		storage: storagePath(server.Settings),
		client: &http.Client{
			Transport: transport, Timeout: responseTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// storagePath returns the path prefix of stored files, which contains the region
// and the bucket of the storage (decision 6).
func storagePath(settings []string) string {
	at := slices.Index(settings, "--storage")
	if at < 0 || strings.HasPrefix(settings[at+1], "file://") {
		return "/storage/local/merchant-orders"
	}
	bucket, _, _ := strings.Cut(strings.TrimPrefix(settings[at+1], "s3://"), "?")
	return "/storage/" + s3test.Region + "/" + bucket
}

// actingFor returns the service with a token of another merchant. It adds the
// merchant if necessary.
func (s *service) actingFor(t *testing.T, merchant int) *service {
	t.Helper()
	other := *s
	other.token = s.Merchant(t, int64(merchant))
	return &other
}

// dataFolder returns a data folder without a server.
func dataFolder(t *testing.T) apptest.Folder {
	t.Helper()
	return apptest.Folder{Data: filepath.Join(t.TempDir(), "elsewhere")}
}

package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// backend is a database and a file storage that the service runs on.
type backend struct {
	name string
	// settings returns the flags of a new, empty installation.
	settings func(t testing.TB) []string
	// shared returns the server that scenarios with merchants of their own share.
	shared func() *server
}

// server is a running server with a token of operators.
type server struct {
	*apptest.Server
	operator string
}

// start starts a server on a new installation.
func (b backend) start(t testing.TB, flags ...string) *server {
	folder := apptest.Folder{Data: filepath.Join(t.TempDir(), "data"), Settings: b.settings(t)}
	s := folder.Serve(t, flags...)
	return &server{s, folder.Token(t, "--operator")}
}

// backends are all combinations of a database and a file storage.
var backends = []backend{
	newBackend("sqlite-disk", func(testing.TB) []string { return nil }),
	newBackend("sqlite-s3", func(t testing.TB) []string { return []string{"--storage", bucket(t)} }),
	newBackend("postgres-disk", func(t testing.TB) []string {
		return []string{"--database", pgtest.Database(t), "--storage", "file://" + t.TempDir() + "/files"}
	}),
	newBackend("postgres-s3", func(t testing.TB) []string {
		return []string{"--database", pgtest.Database(t), "--storage", bucket(t)}
	}),
}

func newBackend(name string, settings func(t testing.TB) []string) backend {
	b := backend{name: name, settings: settings}
	b.shared = sync.OnceValue(func() *server { return b.start(untilEnd) })
	return b
}

// sqlite is for scenarios in which neither database nor storage decides anything: how
// requests are parsed, refused and limited, and how responses are written.
// bothDatabases has both databases and both storages. It is for scenarios that do not
// depend on how database and storage work together.
var (
	sqlite        = backends[:1]
	bothDatabases = []backend{backends[0], backends[3]}
)

func onSQLite(t *testing.T, scenario func(t *testing.T, s *service)) { on(t, sqlite, scenario) }

func onBothDatabases(t *testing.T, scenario func(t *testing.T, s *service)) {
	on(t, bothDatabases, scenario)
}

// on runs a scenario on each of the backends, with a merchant of its own.
func on(t *testing.T, backends []backend, scenario func(t *testing.T, s *service)) {
	each(t, backends, func(t *testing.T, b backend) { scenario(t, newService(t, b.shared())) })
}

// alone runs a scenario on a new server on each of the backends. It is for scenarios that
// stop the server, need flags of serve, look at the log or the metrics, or import
// documents whose numbers are given.
func alone(t *testing.T, backends []backend, scenario func(t *testing.T, s *service), flags ...string) {
	each(t, backends, func(t *testing.T, b backend) { scenario(t, newService(t, b.start(t, flags...))) })
}

func each(t *testing.T, backends []backend, run func(t *testing.T, b backend)) {
	t.Parallel()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			if b.name != sqlite[0].name {
				testenv.Need(t, "a PostgreSQL server and an S3 server")
			}
			run(t, b)
		})
	}
}

// bucket creates a bucket and returns its URL, as the flag --storage takes it.
func bucket(t testing.TB) string {
	name, endpoint := s3test.Bucket(t)
	return "s3://" + name + "?region=" + s3test.Region + "&endpoint=" + url.QueryEscape(endpoint)
}

// service is a running service and a merchant of it, whose token requests have unless
// they set another one.
type service struct {
	*server
	client   apptest.Client
	merchant int64
	token    string // of the merchant, with all scopes
	storage  string // path prefix of stored files
}

// lastMerchant is the id of the last merchant made, so that none is used twice.
var lastMerchant atomic.Int64

func init() { lastMerchant.Store(1000) }

// newService returns a service with a new merchant.
func newService(t *testing.T, s *server) *service {
	transport := &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	first := &service{server: s, storage: storagePath(s.Settings), client: apptest.Client{HTTP: &http.Client{
		Transport: transport, Timeout: testenv.WaitTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}}
	return first.another(t)
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

// another returns the service with another new merchant.
func (s *service) another(t *testing.T) *service {
	t.Helper()
	id := lastMerchant.Add(1)
	return s.adding(t, id, fmt.Sprint("Store ", id))
}

// adding returns the service with a merchant that it adds.
func (s *service) adding(t *testing.T, id int64, name string) *service {
	t.Helper()
	other := *s
	other.merchant = id
	s.do(t, post("/operator/merchants", fmt.Sprintf(`{"id":%d,"name":%s}`, id, asJSON(t, name))).by(s.operator))
	other.token = other.newToken(t)
	other.client.Token = other.token
	return &other
}

// newToken returns a new token of the merchant, with all scopes unless some are named.
func (s *service) newToken(t *testing.T, scopes ...string) string {
	t.Helper()
	body := fmt.Sprintf(`{"merchantId":%d}`, s.merchant)
	if scopes != nil {
		body = fmt.Sprintf(`{"merchantId":%d,"scopes":%s}`, s.merchant, asJSON(t, scopes))
	}
	return textAt(t, s.do(t, post("/operator/tokens", body).by(s.operator)).body, "text")
}

// id is the id of the merchant as a flag.
func (s *service) id() string { return fmt.Sprint(s.merchant) }

// dataFolder returns a data folder without a server.
func dataFolder(t *testing.T) apptest.Folder {
	t.Helper()
	return apptest.Folder{Data: filepath.Join(t.TempDir(), "elsewhere")}
}

// atOnce sends requests at the same time and returns their responses, in the
// order of the requests.
func (s *service) atOnce(t *testing.T, requests []request) []response {
	t.Helper()
	responses, faults := make([]response, len(requests)), make([]error, len(requests))
	testenv.Together(len(requests), func(i int, ready func()) {
		ready()
		responses[i], faults[i] = s.trySend(t.Context(), requests[i])
	})
	testenv.NoError(t, errors.Join(faults...))
	return responses
}

// dial opens a connection to the service for a client that writes its requests
// by hand.
func (s *service) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	conn := testenv.Of(net.Dial("tcp", strings.TrimPrefix(s.BaseURL, "http://"))).Must(t)
	t.Cleanup(func() { _ = conn.Close() })
	testenv.NoError(t, conn.SetDeadline(time.Now().Add(testenv.WaitTimeout)))
	return conn.(*net.TCPConn)
}

// readAnswer reads a response from a connection.
func readAnswer(t *testing.T, reader *bufio.Reader, what string) response {
	t.Helper()
	raw, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatalf("%s: read the response: %v", what, err)
	}
	defer raw.Body.Close()
	body := testenv.Of(io.ReadAll(raw.Body)).Must(t)
	return response{request: request{path: what}, status: raw.StatusCode, header: raw.Header, body: string(body)}
}

// statusLines finds the responses in what came back over a connection.
var statusLines = regexp.MustCompile(`(?m)^HTTP/1\.[01] (\d{3}) `)

// exchange sends bytes and reads until the server closes the connection. It
// returns the statuses of all responses, and the responses.
func (s *service) exchange(t *testing.T, send string) (statuses, responses string) {
	t.Helper()
	conn := s.dial(t)
	go func() { _, _ = io.WriteString(conn, send) }() // the server need not read it all
	// A connection closed before all was read may look broken at its end.
	got, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server keeps the connection")
	}
	var all []string
	for _, found := range statusLines.FindAllStringSubmatch(string(got), -1) {
		all = append(all, found[1])
	}
	return strings.Join(all, " "), string(got)
}

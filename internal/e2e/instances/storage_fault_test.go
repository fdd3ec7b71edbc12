package instances

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// storageFault is a way in which an S3 server fails and comes back.
type storageFault struct {
	begin   func(t *testing.T, s *storageTest)
	end     func(t *testing.T, s *storageTest)
	reads   bool // stored files can be read meanwhile
	version int  // of the upload that fails, from 0
}

// storageTest is an instance whose files lie on an S3 server behind a wire.
type storageTest struct {
	client
	process *apptest.Process
	tables  *sql.DB
	server  *s3test.Server
	wire    *wire
}

// otherSecret is not that of the instance.
const otherSecret = "another-secret"

// storageFaults are the ways.
var storageFaults = map[string]storageFault{
	"stopped": {
		begin: func(_ *testing.T, s *storageTest) { s.server.Stop() },
		end:   func(t *testing.T, s *storageTest) { s.run(t) },
	},
	"hanging": {
		version: 1,
		begin:   func(_ *testing.T, s *storageTest) { s.wire.hang() },
		end:     func(_ *testing.T, s *storageTest) { s.wire.heal() },
	},
	"cut off half-way": {
		begin: func(_ *testing.T, s *storageTest) {
			s.wire.cutBy(func() (up, down int64) { return 1 << 20, never })
		},
		end:   func(_ *testing.T, s *storageTest) { s.wire.heal() },
		reads: true, version: 1,
	},
	"with other credentials": {
		begin: func(t *testing.T, s *storageTest) { s.server.Stop(); s.server.Secret = otherSecret; s.run(t) },
		end:   func(t *testing.T, s *storageTest) { s.server.Stop(); s.server.Secret = s3test.SecretKey; s.run(t) },
	},
}

func (s *storageTest) run(t *testing.T) {
	t.Helper()
	testenv.NoError(t, s.server.Run())
}

// TestStorageFails uploads while the S3 server fails in one way or another. The
// upload gets its published error, nothing of it is shown or left, and its place
// is free at once; what needs no file is as always.
func TestStorageFails(t *testing.T) {
	t.Parallel()
	for name, fault := range storageFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStorageTest(t)
			quiet := goroutines(t, s.client)
			const n = sample(1)
			stored := s.stored(t, n, "stored.pdf")
			s.stored(t, n, "second.pdf")

			fault.begin(t, s)
			big := bytes.Repeat([]byte("more than a wire carries before it is cut "), 80_000)
			got, _, err := s.Upload(n.Path(fault.version), "secret name.pdf", big)
			if err != nil || got.Status != http.StatusInternalServerError || apptest.Message(got) != uploadFailed {
				t.Errorf("upload: %d %s, %v; want 500 %s", got.Status, got.Body, err, uploadFailed)
			}
			for round := range 2 {
				testenv.Equal(t, "files shown", 2, len(s.Order(t, n, round).Files))
			}
			testenv.Equal(t, "reservations left", 2, number(t, s.tables, `SELECT active_invoices FROM orders WHERE legacy_id = $1`, n.Number()))
			s.checkRest(t, stored, fault.reads)
			if name != "cut off half-way" { // the check of the bucket succeeds
				testenv.Eventually(t, "/readyz tells that the storage is out of reach", func() bool {
					got := s.Ask(t, http.MethodGet, "/readyz", "")
					return got.Status == http.StatusOK && got.Body == `{"status":"ready","storage":"unavailable"}`+"\n"
				})
			}
			fault.end(t, s)

			s.stored(t, n, "secret name.pdf")
			if got, _, err := s.Upload(n.V2(), "fourth.pdf", []byte("x")); err != nil || apptest.Message(got) != tooManyFiles {
				t.Errorf("a fourth upload: %d %s, %v", got.Status, got.Body, err)
			}
			testenv.Equal(t, "the file that was stored before", contentOf(n, "stored.pdf"), s.Download(t, stored))
			s.checkLeft(t, quiet)
		})
	}
}

// newStorageTest starts an instance with some orders, on a server of its own.
func newStorageTest(t *testing.T) *storageTest {
	t.Helper()
	server := s3test.StartServer(t)
	name := testenv.Of(server.NewBucket()).Must(t)
	address := testenv.Of(url.Parse(server.Endpoint())).Must(t)
	w := newWire(t, address.Host)
	i := onSQLite(t, "--storage", storage(name, "http://"+w.address()))
	token := i.filled(t, 3)
	p := i.process(t)
	return &storageTest{
		client: apptest.NewClient(t, p.BaseURL, token), process: p, tables: i.tables(t), server: server, wire: w,
	}
}

func contentOf(n sample, name string) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%s of order %d. ", name, n), 1000)
}

// stored uploads a file, which has to succeed.
func (s *storageTest) stored(t *testing.T, n sample, name string) entry {
	t.Helper()
	got, e, err := s.Upload(n.V2(), name, contentOf(n, name))
	if err != nil || got.Status != http.StatusOK {
		t.Fatalf("upload: %d %s, %v", got.Status, got.Body, err)
	}
	return e
}

// checkRest sees that a download meets the fault, unless it can be read, and
// everything else does not.
func (s *storageTest) checkRest(t *testing.T, stored entry, reads bool) {
	t.Helper()
	got := s.Ask(t, http.MethodGet, stored.Path(t), "")
	switch {
	case reads && got.Status != http.StatusOK:
		t.Errorf("download: %d %s", got.Status, got.Body)
	case !reads && (got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" || !flatUnavailable.MatchString(got.Body)):
		t.Errorf("download: %d %v %s, want 503 with Retry-After", got.Status, got.Header, got.Body)
	}
	for _, path := range []string{"/healthz", sample(1).V1(), sample(1).V2(), "/api/orders", "/v2/orders"} {
		s.Ask(t, http.MethodGet, path, "").WantStatus(t, http.StatusOK)
	}
	for round, n := range []sample{2, 3} {
		d := decisions[2*round]
		if got := s.Ask(t, d.Method, d.Path(n), d.Body); got.Status != http.StatusOK {
			t.Errorf("%s %s: %d %s", d.Method, d.Path(n), got.Status, got.Body)
		}
	}
	s.Ask(t, http.MethodDelete, fmt.Sprintf("%s/invoices/%d", sample(1).V1(), stored.ID+1000), "").WantStatus(t, http.StatusNotFound)
}

// checkLeft sees that nothing is left of the uploads that failed: no local file,
// nothing under way, no row that is not accounted for, no name in the log.
func (s *storageTest) checkLeft(t *testing.T, quiet int) {
	t.Helper()
	left, err := os.ReadDir(filepath.Join(s.process.Data, "files", "tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("local files are left: %v, %v", left, err)
	}
	testenv.Equal(t, "reservations left", 0, number(t, s.tables, `SELECT COUNT(*) FROM invoices WHERE status = 1`))
	testenv.Eventually(t, "what the fault had under way has ended", func() bool { return goroutines(t, s.client) < quiet+10 })
	testenv.Eventually(t, "what may have been stored of failed uploads is removed", func() bool {
		return number(t, s.tables, `SELECT COUNT(*) FROM invoices WHERE status = 4 AND purged_at IS NULL`) == 0
	})
	testenv.Lacks(t, "log", s.process.Log(), "secret name", "secret%20name", s3test.SecretKey)
}

// TestStorageResponsesAreLost has the S3 server store a file and its response lost
// on the way. Sent again, the file is there already: the upload has succeeded,
// and its file is the one that is shown.
//
// It guards that the content of an object with the same name is compared before it is
// taken for that of another upload: the upload would fail and free the name, under which
// nothing could be stored any more.
func TestStorageResponsesAreLost(t *testing.T) {
	t.Parallel()
	s := newStorageTest(t)
	const n = sample(1)
	for lost := range 3 {
		name, left := fmt.Sprintf("lost %d.pdf", lost), lost
		s.wire.cutBy(func() (up, down int64) {
			if left--; left < 0 {
				return never, never
			}
			return never, 0
		})
		testenv.Equal(t, "content of "+name, contentOf(n, name), s.Download(t, s.stored(t, n, name)))
	}
	testenv.Equal(t, "files shown", 3, len(s.Order(t, n, 1).Files))
}

// TestKilledInMidUpload kills an instance while a file is on its way to the S3
// server. Another instance takes its reservation back.
func TestKilledInMidUpload(t *testing.T) {
	t.Parallel()
	name, endpoint := s3test.Bucket(t)
	address := testenv.Of(url.Parse(endpoint)).Must(t)
	w := newWire(t, address.Host)
	database := pgtest.Database(t)
	i := onPostgres(t, database, "--storage", storage(name, endpoint))
	token := i.filled(t, 1)
	doomed := onPostgres(t, database, "--storage", storage(name, "http://"+w.address())).process(t)
	other := apptest.NewClient(t, i.process(t).BaseURL, token)
	tables := i.tables(t)

	w.hang()
	broken := make(chan error, 1)
	go func() {
		_, _, err := apptest.NewClient(t, doomed.BaseURL, token).Upload(sample(1).V2(), "lost.pdf", bytes.Repeat([]byte("lost"), 1000))
		broken <- err
	}()
	reserved := func() int { return number(t, tables, `SELECT COUNT(*) FROM invoices WHERE status = 1`) }
	testenv.Eventually(t, "the file is reserved", func() bool { return reserved() == 1 })
	doomed.Kill(t)
	if err := <-broken; err == nil {
		t.Error("the upload got a response")
	}
	testenv.Equal(t, "reservations that outlived the instance", 1, reserved())
	if got := other.Order(t, 1, 2); len(got.Files) != 0 {
		t.Errorf("%v are shown of a file that is not there", got.Files)
	}
	// As if it were longer ago than an upload can take.
	execute(t, tables, `UPDATE invoices SET created_at = created_at - 3600`)
	start := time.Now()
	testenv.Eventually(t, "the reservation is taken back", func() bool { return reserved() == 0 })
	t.Logf("taken back after %v", time.Since(start).Round(time.Second))
	for n := range 3 {
		if got, _, err := other.Upload(sample(1).V1(), "lost.pdf", []byte{byte(n)}); err != nil || got.Status != http.StatusOK {
			t.Errorf("upload %d: %d %s, %v", n, got.Status, got.Body, err)
		}
	}
	if got, _, _ := other.Upload(sample(1).V1(), "lost.pdf", []byte("fourth")); apptest.Message(got) != tooManyFiles {
		t.Errorf("a fourth upload: %d %s", got.Status, got.Body)
	}
}

package instances

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		// Most of these tests wait for something to fail, and need no processor.
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
	os.Exit(s3test.Main(func() int {
		code := pgtest.Run(func() int { return apptest.Main(m) }, apptest.Distribute)
		if shared.server != nil {
			shared.server.Remove()
		}
		return code
	}))
}

// shared is the PostgreSQL server of the tests that do it no harm.
var shared struct {
	once   sync.Once
	server *pgtest.Server
	err    error
}

// sharedServer returns that server.
func sharedServer(t testing.TB) *pgtest.Server {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = pgtest.Start() })
	if shared.err != nil {
		t.Fatalf("no PostgreSQL server for the tests: %v", shared.err)
	}
	return shared.server
}

// newDatabase makes an empty database on a server and returns its URL.
func newDatabase(t testing.TB, server *pgtest.Server) string {
	t.Helper()
	url, err := server.NewDatabase()
	if err != nil {
		t.Fatalf("make a database: %v", err)
	}
	return url
}

// serviceDatabase makes a database that the service alone is to work on, and
// returns its URL: where pgtest.Variable names a cluster, on that and with its
// tables spread. Tests that look into the server itself have newDatabase.
func serviceDatabase(t testing.TB) string {
	t.Helper()
	if os.Getenv(pgtest.Variable) == "" {
		return newDatabase(t, sharedServer(t))
	}
	return pgtest.Database(t)
}

// ownServer starts a PostgreSQL server that a test may stop.
func ownServer(t testing.TB) *pgtest.Server {
	t.Helper()
	server, err := pgtest.Start()
	if err != nil {
		t.Fatalf("no PostgreSQL server for the test: %v", err)
	}
	t.Cleanup(server.Remove)
	return server
}

// patience is how long a test waits for what must happen. Only a test that
// fails waits that long.
const patience = time.Minute

// eventually waits until something is so.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	within(t, patience, what, so)
}

// within is eventually with a limit that was promised.
func within(t testing.TB, limit time.Duration, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain: %s", limit, what)
		}
	}
}

// together runs act(0), ..., act(count-1) at the same moment: each prepares
// what it needs and calls ready, which returns when all have.
func together(count int, act func(i int, ready func())) {
	var all, done sync.WaitGroup
	all.Add(count)
	for i := range count {
		done.Go(func() {
			once := sync.OnceFunc(all.Done)
			defer once()
			act(i, func() { once(); all.Wait() })
		})
	}
	done.Wait()
}

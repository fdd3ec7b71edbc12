// Package pgtest starts a throwaway PostgreSQL server for tests, from the
// installed server programs and with their default durability. If the programs
// are missing, the test fails.
//
// It must not know the service's schema.
package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"merchantorders/internal/testenv"
)

// Variable is the environment variable with the URL of another server to use,
// postgres://user@host:5432/postgres. If that database is the coordinator of a
// Citus cluster, the databases of tests are created on all its nodes, with
// distributed tables. The user must be allowed to create databases and
// extensions.
const Variable = "MERCHANT_ORDERS_TEST_POSTGRES"

// shared are the servers that the tests of a package share.
var shared struct {
	serverOnce sync.Once
	server     *Server // started by the first test that needs it
	serverErr  error

	externalOnce sync.Once
	external     *external // nil: Variable is not set
	externalErr  error
	setUp        SetUp
	running      bool // by Run
}

// SetUp creates the tables of a new database. On a cluster it distributes them.
type SetUp func(ctx context.Context, url string, cluster bool) error

// Main runs the tests of a package and stops the shared server. It is called
// from TestMain. If setUp is nil, databases are empty.
func Main(m *testing.M, setUp SetUp) {
	os.Exit(Run(m.Run, setUp))
}

// Run is like Main but returns the exit code.
func Run(run func() int, setUp SetUp) int {
	shared.setUp, shared.running = setUp, true
	defer func() {
		if shared.server != nil {
			shared.server.Remove()
		}
	}()
	return run()
}

// Database returns the URL of a database on the shared server that no other test uses.
// It has the tables that the set-up of the package creates, as after their creation;
// without a set-up it is empty. The package's TestMain must call Main or Run.
func Database(t testing.TB) string {
	t.Helper()
	if shared.setUp == nil {
		return Empty(t)
	}
	cluster := Distributed(t)
	create := func(ctx context.Context, url string) error { return shared.setUp(ctx, url, cluster) }
	if openExternalOnce(t) == nil {
		return Shared(t).withTables(t, create)
	}
	url := Empty(t)
	testenv.NoError(t, create(t.Context(), url))
	return url
}

// Empty is like Database, but the database is empty.
func Empty(t testing.TB) string {
	t.Helper()
	needRun(t)
	if e := openExternalOnce(t); e != nil {
		return testenv.Of(e.newDatabase(t)).Must(t)
	}
	return Shared(t).Database(t)
}

// Distributed reports whether databases are on a cluster.
func Distributed(t testing.TB) bool {
	t.Helper()
	e := openExternalOnce(t)
	return e != nil && e.clustered()
}

// NeedCluster skips a test if there is no Citus cluster.
func NeedCluster(t testing.TB) {
	t.Helper()
	if !Distributed(t) {
		t.Skip("needs a Citus cluster: " + Variable + " must name its coordinator")
	}
}

// Shared returns the server that the tests of the package share, and that none
// of them may stop. Variable has no influence on it.
func Shared(t testing.TB) *Server {
	t.Helper()
	testenv.Need(t, "a PostgreSQL server")
	needRun(t)
	shared.serverOnce.Do(func() { shared.server, shared.serverErr = Start() })
	if shared.serverErr != nil {
		t.Fatalf("no PostgreSQL server for the tests: %v", shared.serverErr)
	}
	return shared.server
}

// needRun ends a test of a package without Run: nobody would remove the shared server, and
// the tables would not be distributed over a cluster.
func needRun(t testing.TB) {
	t.Helper()
	if !shared.running {
		t.Fatal("TestMain must call pgtest.Main or pgtest.Run")
	}
}

// openExternalOnce connects to the server of Variable. It returns nil if that
// is not set.
func openExternalOnce(t testing.TB) *external {
	t.Helper()
	address := os.Getenv(Variable)
	if address == "" {
		return nil
	}
	shared.externalOnce.Do(func() {
		shared.external, shared.externalErr = openExternal(context.WithoutCancel(t.Context()), address)
	})
	if shared.externalErr != nil {
		t.Fatalf("no PostgreSQL server for the tests: %v", shared.externalErr)
	}
	return shared.external
}

// Server is a running server.
type Server struct {
	folder   string
	port     int
	settings []string // arguments
	account  *syscall.Credential

	process *exec.Cmd    // nil: stopped
	ended   <-chan error // receives the result of the process

	mu      sync.Mutex
	created int      // databases
	unused  []string // names of empty databases that no test uses
	ready   []ready  // databases with tables that no test uses
}

// StartServer starts a server that the test may stop or damage. It is removed
// when the test ends.
func StartServer(t testing.TB) *Server {
	t.Helper()
	testenv.Need(t, "a PostgreSQL server")
	server := testenv.Of(Start()).Must(t)
	t.Cleanup(server.Remove)
	return server
}

// Start runs initdb in a temporary directory and starts a server on a free port
// of the loopback address. It has its default settings but for a few, and those in the
// arguments of the program postgres.
func Start(settings ...string) (*Server, error) {
	return start(settings, func(s *Server) (*exec.Cmd, error) {
		return s.command("initdb", "--pgdata", s.data(), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C")
	})
}

// start makes a server's data with a command and starts the server on a free port.
func start(settings []string, makeData func(*Server) (*exec.Cmd, error)) (*Server, error) {
	account, err := unprivileged()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder, account: account, settings: settings}
	if account != nil {
		if err := os.Chown(folder, int(account.Uid), int(account.Gid)); err != nil {
			return nil, err
		}
	}
	command, err := makeData(s)
	if err != nil {
		return nil, err
	}
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", command.Path, err, output)
	}
	if s.port, err = testenv.FreePort(); err != nil {
		return nil, err
	}
	if err := s.Run(); err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

// StartStandby starts an asynchronous standby of the server, with a copy of its
// data. It is removed when the test ends.
func (s *Server) StartStandby(t testing.TB) *Server {
	t.Helper()
	return s.startCopy(t, "--write-recovery-conf")
}

// StartCopy starts a server of its own with a copy of the server's data, as a snapshot
// of its disk would be. It is removed when the test ends.
func (s *Server) StartCopy(t testing.TB) *Server {
	t.Helper()
	return s.startCopy(t)
}

func (s *Server) startCopy(t testing.TB, flags ...string) *Server {
	t.Helper()
	started, err := start(nil, func(started *Server) (*exec.Cmd, error) {
		return started.command("pg_basebackup", append(flags, "--dbname", s.URL("postgres"), "--pgdata", started.data(),
			"--checkpoint", "fast", "--no-sync")...)
	})
	testenv.NoError(t, err)
	t.Cleanup(started.Remove)
	return started
}

// Promote makes a standby a primary.
func (s *Server) Promote() error { return s.exec("postgres", "SELECT pg_promote()") }

// Run starts the server, the first time or again after Stop, and waits until it
// accepts connections.
func (s *Server) Run() error {
	process, err := s.command("postgres", append([]string{"-D", s.data(), "-h", "127.0.0.1", "-p", strconv.Itoa(s.port),
		"-c", "unix_socket_directories=", "-c", "max_connections=300", "-c", "max_wal_size=256MB", "-c", "max_prepared_transactions=2"}, s.settings...)...)
	if err != nil {
		return err
	}
	if s.ended, err = testenv.StartServer(process, syscall.SIGQUIT); err != nil {
		return err
	}
	s.process = process
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	db, err := sql.Open("pgx", s.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server accepts no connections: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// startTimeout is how long a server may take to start. Only a test that fails
// waits that long.
const startTimeout = 3 * time.Minute

// Stop stops the server immediately, like a crash.
func (s *Server) Stop() {
	if s.process != nil {
		_ = s.process.Process.Signal(syscall.SIGQUIT)
		<-s.ended
		s.process = nil
	}
}

// Signal sends a signal to the server's main process. SIGSTOP makes it hang.
func (s *Server) Signal(signal os.Signal) error { return s.process.Process.Signal(signal) }

// Remove stops the server and deletes its data.
func (s *Server) Remove() {
	s.Stop()
	_ = os.RemoveAll(s.folder)
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

// command returns a command of a server program. The program runs as the
// unprivileged account.
func (s *Server) command(name string, args ...string) (*exec.Cmd, error) {
	path, err := program(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = s.folder
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.account}
	return cmd, nil
}

// unprivileged returns the account that server programs run as, because they
// refuse to run as root. nil: the account of the tests.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no account postgres: %w", err)
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
}

// program returns the path of a server program: of the newest version in
// Debian's directories, or of the one on the path.
func program(name string) (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) > 0 {
		sort.Strings(found)
		return found[len(found)-1], nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed (Debian: apt-get install postgresql): %w", name, err)
	}
	return path, nil
}

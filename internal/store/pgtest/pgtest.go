// Package pgtest starts a throwaway PostgreSQL server for tests, from the
// server programs that are installed, with its durability left on. A missing
// program is an error, never a skipped test.
//
// It must not know the service's schema.
package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that makes databases
)

// Variable names the environment variable that holds the URL of a server to
// use instead, postgres://user@host:5432/postgres. If there is a Citus cluster
// in that database, each test's own is made on all its nodes, with its tables
// spread. The user must be allowed to make databases and extensions.
const Variable = "MERCHANT_ORDERS_TEST_POSTGRES"

var shared struct {
	once       sync.Once
	server     *Server   // nil: that of Variable is used
	external   *external // nil: a server of our own is used
	err        error
	distribute func(ctx context.Context, url string) error
	mu         sync.Mutex
	made       int
}

// Main runs the tests of a package and stops the server that they started. To
// be called from TestMain. Where Variable names the coordinator of a cluster,
// distribute makes the tables in a new database and spreads them.
func Main(m *testing.M, distribute func(ctx context.Context, url string) error) {
	os.Exit(Run(m.Run, distribute))
}

// Run is Main for a TestMain that has more to end than this server: it returns
// the exit code.
func Run(run func() int, distribute func(ctx context.Context, url string) error) int {
	shared.distribute = distribute
	defer func() {
		if shared.server != nil {
			shared.server.Remove()
		}
	}()
	return run()
}

// Database makes a database on the server shared by the tests of the package,
// and returns its URL. It is empty, or, on a cluster, has empty tables that are
// spread. The package's TestMain calls Main.
func Database(t testing.TB) string {
	t.Helper()
	url := Empty(t)
	if Distributed(t) {
		if err := shared.distribute(t.Context(), url); err != nil {
			t.Fatalf("spread the tables: %v", err)
		}
	}
	return url
}

// Empty makes a database without tables, also on a cluster.
func Empty(t testing.TB) string {
	t.Helper()
	begin(t)
	var url string
	var err error
	if shared.external != nil {
		url, err = shared.external.newDatabase(t)
	} else {
		url, err = shared.server.NewDatabase()
	}
	if err != nil {
		t.Fatalf("make a database: %v", err)
	}
	return url
}

// Distributed reports whether databases are on a cluster.
func Distributed(t testing.TB) bool {
	t.Helper()
	begin(t)
	return shared.external != nil && shared.external.clustered()
}

// begin starts the shared server, or finds that of Variable.
func begin(t testing.TB) {
	t.Helper()
	shared.once.Do(func() {
		if address := os.Getenv(Variable); address != "" {
			shared.external, shared.err = openExternal(context.WithoutCancel(t.Context()), address)
			return
		}
		shared.server, shared.err = Start()
	})
	if shared.err != nil {
		t.Fatalf("no PostgreSQL server for the tests: %v", shared.err)
	}
}

// Server is a running server.
type Server struct {
	folder  string
	port    int
	account *syscall.Credential

	process *exec.Cmd  // nil: stopped
	ended   chan error // gets the end of the process
}

// Start makes a cluster in a folder of its own and starts a server on it, on a
// free port of the loopback address.
func Start() (*Server, error) {
	account, err := unprivileged()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder, account: account}
	if account != nil {
		if err := os.Chown(folder, int(account.Uid), int(account.Gid)); err != nil {
			return nil, err
		}
	}
	initdb, err := program("initdb")
	if err != nil {
		return nil, err
	}
	made := s.command(initdb, "--pgdata", s.data(), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C")
	if output, err := made.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, output)
	}
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	if err := s.Run(); err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

// Run starts the server, also after Stop, on its data and its port, and waits
// until it answers.
func (s *Server) Run() error {
	postgres, err := program("postgres")
	if err != nil {
		return err
	}
	s.process = s.command(postgres, "-D", s.data(), "-h", "127.0.0.1", "-p", strconv.Itoa(s.port),
		"-c", "unix_socket_directories=", "-c", "max_connections=300", "-c", "max_wal_size=256MB")
	if err := s.startProcess(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
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
			return fmt.Errorf("the server does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// startProcess starts the server from a thread that lives as long as it does:
// the kernel tells a child of its parent's end when the thread that started it
// ends, and the Go runtime ends threads as it likes.
func (s *Server) startProcess() error {
	started, ended := make(chan error), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := s.process.Start()
		started <- err
		if err == nil {
			ended <- s.process.Wait()
		}
	}()
	s.ended = ended
	return <-started
}

// Stop stops the server at once, as a crash would.
func (s *Server) Stop() {
	if s.process != nil {
		_ = s.process.Process.Signal(syscall.SIGQUIT)
		<-s.ended
		s.process = nil
	}
}

// Signal sends the server's main process a signal: SIGSTOP makes it hang.
func (s *Server) Signal(signal os.Signal) error { return s.process.Process.Signal(signal) }

// Remove stops the server and removes its data.
func (s *Server) Remove() {
	s.Stop()
	_ = os.RemoveAll(s.folder)
}

// URL returns the address of a database of the server.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

// NewDatabase makes an empty database and returns its URL.
func (s *Server) NewDatabase() (string, error) {
	shared.mu.Lock()
	shared.made++
	name := fmt.Sprintf("test%d", shared.made)
	shared.mu.Unlock()
	db, err := sql.Open("pgx", s.URL("postgres"))
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(context.Background(), "CREATE DATABASE "+name)
	return s.URL(name), err
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

// command prepares a server program: it runs as the unprivileged account and
// ends with the tests, however they end.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.folder
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.account, Pdeathsig: syscall.SIGQUIT}
	return cmd
}

// unprivileged returns the account that server programs run as: they refuse to
// run as root. nil: the account of the tests.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("the server does not run as root, and there is no other account: %w", err)
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
}

// program finds a server program: of the newest version that is installed as
// Debian does, or on the path.
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

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresServer is a PostgreSQL server with its data in a temporary directory.
// It runs with PostgreSQL's default settings for durability.
type postgresServer struct {
	dir     string
	port    int
	account *syscall.Credential // the server refuses to run as root; nil: the current account
	process *exec.Cmd
	stderr  bytes.Buffer // complete once the process has ended
}

// postgresSettings returns the settings of the PostgreSQL server beside its defaults.
// Scale is measured with a part of the memory that docs/postgresql.md recommends.
func (o options) postgresSettings() []string {
	if o.stores > 0 {
		return []string{"-c", "shared_buffers=1GB", "-c", "max_wal_size=4GB"}
	}
	return []string{"-c", "max_wal_size=256MB"}
}

// startPostgres creates a database cluster with initdb and starts a server for
// it on a free port of the loopback address.
func startPostgres(ctx context.Context, settings ...string) (*postgresServer, error) {
	dir, err := os.MkdirTemp("", "merchant-orders-bench-postgres-")
	if err != nil {
		return nil, err
	}
	s := &postgresServer{dir: dir}
	if err := s.start(ctx, settings); err != nil {
		s.remove()
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	return s, nil
}

func (s *postgresServer) start(ctx context.Context, settings []string) error {
	if err := s.chooseAccount(); err != nil {
		return err
	}
	initdb, err := s.command("initdb", "--pgdata", s.data(), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C")
	if err != nil {
		return err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w:\n%s", err, out)
	}
	if s.port, err = freePort(); err != nil {
		return err
	}
	server, err := s.command("postgres", append([]string{"-D", s.data(), "-h", "127.0.0.1", "-p", strconv.Itoa(s.port),
		"-c", "unix_socket_directories=", "-c", "max_connections=300"}, settings...)...)
	if err != nil {
		return err
	}
	server.Stderr = &s.stderr
	if err := server.Start(); err != nil {
		return err
	}
	s.process = server
	return s.awaitReady(ctx)
}

// awaitReady waits until the server accepts connections, for at most a minute.
func (s *postgresServer) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		connection, err := pgx.Connect(ctx, s.url())
		if err == nil {
			return connection.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server accepts no connections: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// remove stops the server and deletes its data.
func (s *postgresServer) remove() {
	if s.process != nil {
		_ = s.process.Process.Signal(syscall.SIGQUIT)
		_ = s.process.Wait()
	}
	_ = os.RemoveAll(s.dir)
}

// url returns the address of the database that initdb creates. It is empty.
func (s *postgresServer) url() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

func (s *postgresServer) data() string { return filepath.Join(s.dir, "data") }

// chooseAccount makes the server programs run as the account postgres if the
// current account is root.
func (s *postgresServer) chooseAccount() error {
	if os.Getuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return err
	}
	s.account = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(s.dir, int(uid), int(gid))
}

// command returns a command of a PostgreSQL server program: of the newest
// version in Debian's directories, else of the one on the path.
func (s *postgresServer) command(name string, args ...string) (*exec.Cmd, error) {
	path, err := exec.LookPath(name)
	if installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(installed) > 0 {
		path, err = slices.Max(installed), nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not installed (Debian: apt-get install postgresql): %w", name, err)
	}
	command := exec.Command(path, args...)
	command.Dir = s.dir
	command.SysProcAttr = &syscall.SysProcAttr{Credential: s.account}
	return command, nil
}

// freePort returns a TCP port that no process listens on.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

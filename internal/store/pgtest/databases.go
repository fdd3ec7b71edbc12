package pgtest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// Dump returns a dump of a database, for Restore.
func (s *Server) Dump(database string) ([]byte, error) {
	command, err := s.command("pg_dump", "--format=custom", s.URL(database))
	if err != nil {
		return nil, err
	}
	return command.Output()
}

// Restore creates a database and restores a dump into it.
func (s *Server) Restore(database string, dump []byte) error {
	if err := s.exec("postgres", "CREATE DATABASE "+database); err != nil {
		return err
	}
	command, err := s.command("pg_restore", "--no-owner", "--exit-on-error", "--dbname="+s.URL(database))
	if err != nil {
		return err
	}
	command.Stdin = bytes.NewReader(dump)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", command.Path, err, output)
	}
	return nil
}

// Rename gives a database another name, after it has ended all connections to it.
func (s *Server) Rename(database, name string) error {
	return s.exec("postgres",
		fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS false", database),
		fmt.Sprintf("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '%s'", database),
		fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", database, name),
		fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS true", name))
}

// Drop drops a database that nobody uses.
func (s *Server) Drop(database string) error { return s.exec("postgres", "DROP DATABASE "+database) }

// URL returns the URL of a database of the server.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

// Database returns the URL of an empty database that no other test uses. To
// create one is slow, so an earlier test's is emptied and used again.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := testenv.Of(s.takeDatabase()).Must(t)
	t.Cleanup(func() { s.release(name) })
	return s.URL(name)
}

// release empties a database and lets other tests use it. A test may have stopped the
// server; its databases are then not used again.
func (s *Server) release(name string) {
	if s.empty(name) == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unused = append(s.unused, name)
	}
}

// takeDatabase returns the name of an unused database, or creates one.
func (s *Server) takeDatabase() (string, error) {
	if name, found := takeLast(s, &s.unused); found {
		return name, nil
	}
	s.mu.Lock()
	s.created++
	name := fmt.Sprintf("test%d", s.created)
	s.mu.Unlock()
	return name, s.exec("postgres", "CREATE DATABASE "+name)
}

// takeLast removes and returns the last element of a list of the server; false if it is
// empty.
func takeLast[T any](s *Server, list *[]T) (last T, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(*list) - 1; n >= 0 {
		last, found = (*list)[n], true
		*list = (*list)[:n]
	}
	return last, found
}

// empty ends the connections to a database and removes what is in it.
func (s *Server) empty(name string) error {
	return errors.Join(
		s.exec(name,
			endOthers,
			fmt.Sprintf("ALTER DATABASE %s RESET ALL", name),
			"DROP SCHEMA public CASCADE",
			// As initdb creates it.
			"CREATE SCHEMA public AUTHORIZATION pg_database_owner", "GRANT USAGE ON SCHEMA public TO PUBLIC"))
}

// endOthers ends the other connections to a database.
const endOthers = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"

// exec runs statements in a database, for at most a minute.
func (s *Server) exec(database string, statements ...string) error {
	return s.connect(database, func(ctx context.Context, db *sql.DB) error {
		for _, statement := range statements {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
}

// connect calls fn with a connection to a database, for at most a minute.
func (s *Server) connect(database string, fn func(ctx context.Context, db *sql.DB) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db, err := sql.Open("pgx", s.URL(database))
	if err != nil {
		return err
	}
	return errors.Join(fn(ctx, db), db.Close())
}

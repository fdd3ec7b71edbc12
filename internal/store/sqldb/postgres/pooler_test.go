package postgres

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestPooler opens a database behind PgBouncer. If that gives every transaction any of its
// connections, the database is refused with the reason, also by doctor.
func TestPooler(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"session": "", "transaction": "pool_mode = session", "statement": "pool_mode = session"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			url := startPooler(t, pgtest.Database(t), mode)
			_, examined := Examine(t.Context(), url)
			db, err := Open(t.Context(), url, nil, migrations.Options{})
			if err == nil {
				err = db.Close()
			}
			for _, err := range []error{err, examined} {
				if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}

// startPooler starts PgBouncer in front of a database, and returns its URL there.
func startPooler(t *testing.T, database, mode string) string {
	t.Helper()
	program := testenv.Program(t, "pgbouncer", "pgbouncer")
	server := testenv.Of(url.Parse(database)).Must(t)
	dir, err := os.MkdirTemp("", "pgbouncer") // the path of a socket is short
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	testenv.NoError(t, os.Chmod(dir, 0o777)) //nolint:gosec // PgBouncer does not run as root
	settings := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=%s port=%s user=%s\n[pgbouncer]\nlisten_port=6432\nunix_socket_dir=%s\nauth_type=any\npool_mode=%s\n",
		server.Hostname(), server.Port(), server.User.Username(), dir, mode)
	testenv.NoError(t, os.WriteFile(settings, []byte(text), 0o644)) //nolint:gosec // the same
	command := exec.CommandContext(t.Context(), program, settings)
	if os.Geteuid() == 0 {
		command.Args = append(command.Args, "--user", "nobody")
	}
	log := new(strings.Builder)
	command.Stderr = log
	testenv.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	testenv.Eventually(t, "PgBouncer listens", func() bool {
		conn, err := net.Dial("unix", filepath.Join(dir, ".s.PGSQL.6432")) // the file is there earlier
		return err == nil && conn.Close() == nil
	})
	return "postgres://" + server.User.String() + "@" + server.Path + "?port=6432&host=" + url.QueryEscape(dir)
}

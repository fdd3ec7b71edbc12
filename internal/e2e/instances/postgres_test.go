package instances

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// admin opens the database of a server that is always there.
func admin(t *testing.T, server *pgtest.Server) *sql.DB {
	t.Helper()
	return openDatabase(t, server, "postgres")
}

// execute runs statements that have to succeed.
func execute(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// setting returns a setting of a server.
func setting(t testing.TB, db *sql.DB, name string) string {
	t.Helper()
	var value string
	testenv.NoError(t, db.QueryRowContext(t.Context(), "SHOW "+name).Scan(&value))
	return value
}

// freeze has a server hang, with all that it has under way: its processes stay
// and its connections too, but nothing responses. thaw ends that.
func freeze(t *testing.T, server *pgtest.Server) (thaw func()) {
	t.Helper()
	db := admin(t, server)
	text, err := os.ReadFile(filepath.Join(setting(t, db, "data_directory"), "postmaster.pid"))
	_ = db.Close()
	testenv.NoError(t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	main := testenv.Of(strconv.Atoi(first)).Must(t)
	// First the one that starts the others.
	frozen := []int{main}
	stop := func(pid int) {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && err != syscall.ESRCH {
			t.Errorf("freeze the server: %v", err)
		}
	}
	stop(main)
	for _, pid := range children(t, main) {
		stop(pid)
		frozen = append(frozen, pid)
	}
	thawed := false
	thaw = func() {
		if thawed {
			return
		}
		thawed = true
		for _, pid := range frozen {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
	t.Cleanup(thaw)
	return thaw
}

// children returns the processes that a process has started.
func children(t *testing.T, parent int) []int {
	t.Helper()
	text := testenv.Of(os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", parent))).Must(t)
	var found []int
	for _, child := range strings.Fields(string(text)) {
		pid := testenv.Of(strconv.Atoi(child)).Must(t)
		found = append(found, pid)
	}
	if len(found) == 0 {
		t.Fatalf("process %d has no children", parent)
	}
	return found
}

// changed returns an address with parts of it changed.
func changed(t testing.TB, address string, change func(*url.URL)) string {
	t.Helper()
	u := urlOf(t, address)
	change(u)
	return u.String()
}

package robust

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// stagedFiles returns the names of what lies in a data folder's place for files on
// their way.
func stagedFiles(t testing.TB, data string) []string {
	return names(t, filepath.Join(data, "files", "tmp"))
}

// stored returns the names of the files stored for an order.
func stored(t testing.TB, data string, n sample) []string {
	return names(t, filepath.Join(data, "files", "invoices", n.Reference()))
}

// names lists a folder; one that is not there is empty.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

// events counts the events of one type that are stored of an order. No interface
// shows them yet.
func events(t testing.TB, data string, n sample, kind order.EventType) int {
	t.Helper()
	return look(t, data, `SELECT COUNT(*) FROM events WHERE legacy_id = $1 AND type = $2`, n.Number(), kind)
}

// reserved counts the files that are reserved and not shown yet.
func reserved(t testing.TB, data string) int {
	t.Helper()
	return look(t, data, `SELECT COUNT(*) FROM invoices WHERE status = 1`)
}

// look reads one number from the database beside the server.
func look(t testing.TB, data, query string, args ...any) int {
	t.Helper()
	db := testenv.Of(sql.Open("sqlite", "file:"+filepath.Join(data, "orders.db")+"?_pragma=busy_timeout(10000)&_pragma=query_only(1)")).Must(t)
	defer func() { _ = db.Close() }()
	var number int
	testenv.NoError(t, db.QueryRowContext(t.Context(), query, args...).Scan(&number))
	return number
}

// nothingStored sees that an order has no file and nothing on the disk.
func (r running) nothingStored(t *testing.T, n sample) {
	t.Helper()
	if shown := r.shown(t, n).Files; len(shown) > 0 {
		t.Errorf("files are shown: %v", shown)
	}
	if left := append(stagedFiles(t, r.Data), stored(t, r.Data, n)...); len(left) > 0 {
		t.Errorf("files are left on the disk: %v", left)
	}
}

// takesThree uploads as many files as an order may have, all of a size.
func (r running) takesThree(t *testing.T, n sample, size int) {
	t.Helper()
	for try := range order.MaxInvoices {
		content := bytes.Repeat([]byte{'a' + byte(try)}, size)
		got, e, err := r.Upload(n.Path(try), "small.pdf", content)
		if err != nil || got.Status != http.StatusOK || !bytes.Equal(r.Download(t, e), content) {
			t.Errorf("upload %d: %d %s %v", try, got.Status, got.Body, err)
		}
	}
}

// checkFolders sees that a server that was just started after a crash has left
// nothing of the uploads that were under way.
func (r running) checkFolders(t *testing.T) {
	t.Helper()
	if left := stagedFiles(t, r.Data); len(left) > 0 {
		t.Errorf("%d files on their way are left", len(left))
	}
}

package commands_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// newTarget returns the addresses of a new PostgreSQL database and a new bucket.
func newTarget(t *testing.T) (database, storage string) {
	t.Helper()
	bucket, endpoint := s3test.Bucket(t)
	return pgtest.Database(t), "s3://" + bucket + "?region=" + s3test.Region + "&endpoint=" + endpoint
}

// copyEnds matches the last line of a copy, which says what to do.
var copyEnds = regexp.MustCompile(`\n(Nothing changed in the source during this run|The source changed during this run|The source kept changing)[^\n]*\n$`)

// mustCopy runs a copy that must succeed, perhaps beside changes, and returns the first line of its output.
func mustCopy(t *testing.T, f apptest.Folder, args ...string) string {
	t.Helper()
	got := f.Run(t, "", append([]string{"copy"}, args...)...)
	end := copyEnds.FindStringSubmatch(got.Stdout)
	want := apptest.Result{}
	if end != nil && end[1] != "Nothing changed in the source during this run" {
		want.Code, want.Stderr = 7, "merchant-orders: the source changed: run this command again\n"
	}
	if end == nil || got.Code != want.Code || got.Stderr != want.Stderr {
		t.Fatalf("copy: %+v", got)
	}
	first, _, _ := strings.Cut(got.Stdout, "\n")
	return first
}

// mustCheck runs a check that must find nothing and returns its output.
func mustCheck(t *testing.T, f apptest.Folder, args ...string) string {
	t.Helper()
	got := f.Run(t, "", append([]string{"check"}, args...)...)
	if got.Code != 0 || !strings.HasSuffix(got.Stdout, "orphans 0: no findings\n") {
		t.Errorf("check: %+v", got)
	}
	return got.Stdout
}

// TestCopyThereAndBack copies a data folder to PostgreSQL and S3 and from there to
// another folder, and once more after a file there was damaged. A server on each returns the
// same orders.
func TestCopyThereAndBack(t *testing.T) {
	t.Parallel()
	s := filled(t)
	database, storage := newTarget(t)
	testenv.Equal(t, "copied", "copied: rows 26, files 2; all else was there", mustCopy(t, s.Folder, "--to-database", database, "--to-storage", storage))
	testenv.Send(t, s.Token, "PATCH", s.BaseURL+"/v2/orders/T-2/accept", "").WantStatus(t, 200)
	upload(t, s.BaseURL, s.Token, "T-3", "late.pdf", "late")
	orders := func(base string) string {
		list := testenv.Send(t, s.Token, "GET", base+"/v2/orders", "")
		list.WantStatus(t, 200)
		return list.Body
	}
	want := orders(s.BaseURL)
	s.Stop(t)
	mustCopy(t, s.Folder, "--to-database", database, "--to-storage", storage)
	testenv.Equal(t, "copied again", "copied: rows 0, files 0; all else was there", mustCopy(t, s.Folder, "--to-database", database, "--to-storage", storage))
	target := []string{"--database", database, "--storage", storage}
	testenv.Equal(t, "check of the target and of the source", mustCheck(t, s.Folder), mustCheck(t, s.Folder, target...))
	onTarget := apptest.StartOn(t, filepath.Join(t.TempDir(), "spool"), target...)
	testenv.Equal(t, "the lists of the server on PostgreSQL and S3", want, orders(onTarget.BaseURL))
	file := onTarget.BaseURL + "/storage/" + strings.Split(strings.TrimPrefix(storage, "s3://"), "?")[0]
	file = strings.Replace(file, "/storage/", "/storage/"+s3test.Region+"/", 1) + "/invoices/T-3/late.pdf"
	testenv.Send(t, s.Token, "GET", file, "").Want(t, "the file", 200, "late")
	onTarget.Stop(t)
	back := folder(t)
	mustCopy(t, onTarget.Folder, append(target, "--to-data", back.Data)...)
	testenv.NoError(t, os.WriteFile(invoiceFile(back, "T-1", "a.pdf"), []byte("other"), 0o600))
	onTarget.Folder.Run(t, "", append(append([]string{"copy"}, target...), "--to-data", back.Data)...).WantText(t, 0,
		"copied: rows 0, files 0; all else was there\nmended: 1 damaged file in the target\n",
		"Nothing changed in the source during this run: if no server and no import runs on it, start servers on the target.\n")
	mustCheck(t, back)
	testenv.Equal(t, "the lists of the server on the new folder", want, orders(apptest.StartOn(t, back.Data).BaseURL))
}

// TestCopyToItself copies invoice files to the bucket that has them: it is no copy.
func TestCopyToItself(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	_, storage := newTarget(t)
	f.Run(t, "", "copy", "--storage", storage, "--to-storage", storage).WantText(t, 2, "--to-storage (MERCHANT_ORDERS_TO_STORAGE): must be another storage than --storage\n")
}

// TestCopyBesideServer copies beside a server that imports and accepts orders and
// stores files, and again after the server has stopped.
func TestCopyBesideServer(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	database, storage := newTarget(t)
	to := []string{"--to-database", database, "--to-storage", storage}
	permits := make(chan struct{}, 1000) // one for each order
	var writers sync.WaitGroup
	for writer := range 2 {
		writers.Go(func() {
			n := 1 + writer
			for range permits {
				s.Import(t, document(n))
				reference := fmt.Sprintf("T-%d", n)
				testenv.Send(t, s.Token, "PATCH", s.BaseURL+"/v2/orders/"+reference+"/accept", "").WantStatus(t, 200)
				upload(t, s.BaseURL, s.Token, reference, "a.pdf", reference)
				n += 2
			}
		})
	}
	stop := sync.OnceFunc(func() {
		close(permits)
		writers.Wait()
	})
	defer stop()
	for range 3 {
		// The first orders are imported before the copy begins, the others during it.
		for range 20 {
			permits <- struct{}{}
		}
		testenv.Eventually(t, "an order is imported", func() bool { return len(permits) < 19 })
		mustCopy(t, s.Folder, to...)
		mustCheck(t, s.Folder, "--database", database, "--storage", storage)
		mustCheck(t, s.Folder)
	}
	stop()
	s.Stop(t)
	mustCopy(t, s.Folder, to...)
	testenv.Equal(t, "check of the target and of the source", mustCheck(t, s.Folder), mustCheck(t, s.Folder, "--database", database, "--storage", storage))
	testenv.Equal(t, "copied again", "copied: rows 0, files 0; all else was there", mustCopy(t, s.Folder, to...))
}

// TestCopyKilled kills a copy at several points and runs it again each time.
func TestCopyKilled(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	var documents [][]byte
	for n := range 2500 {
		documents = append(documents, document(n+1))
	}
	f.Import(t, documents...)
	database, storage := newTarget(t)
	args := []string{"copy", "--data", f.Data, "--to-database", database, "--to-storage", storage}
	db := testenv.Of(sql.Open("pgx", database)).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	orders := func() int {
		n := 0 // also before the tables exist
		_ = db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM orders").Scan(&n)
		return n
	}
	for _, orderCount := range []int{1, 900, 1800} {
		cmd := apptest.Command(t, args...)
		testenv.NoError(t, cmd.Start())
		exited := make(chan error, 1)
		go func() { exited <- cmd.Wait() }()
		ended := false
		for !ended && orders() < orderCount {
			select {
			case err := <-exited:
				t.Logf("ended before %d orders: %v", orderCount, err)
				ended = true
			default:
			}
		}
		_ = cmd.Process.Kill()
		if !ended {
			<-exited
		}
	}
	mustCopy(t, f, args[3:]...)
	testenv.Equal(t, "check of the target and of the source", mustCheck(t, f), mustCheck(t, f, "--database", database, "--storage", storage))
}

// TestCommandsOpenWhatTheyNeed runs commands that need no storage while there is
// none.
func TestCommandsOpenWhatTheyNeed(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	f.Settings = []string{"--storage", "s3://bucket?region=eu-central-1&endpoint=http://127.0.0.1:1"}
	for _, args := range [][]string{
		{"merchant", "list"}, {"merchant", "add", "--id=2", "--name=x"}, {"token", "list"}, {"token", "create", "--operator"},
		{"token", "rotate", "1"}, {"token", "revoke", "1"}, {"migrate"}, {"migrate", "--status"},
		{"copy", "--to-database", "sqlite://" + t.TempDir() + "/orders.db"},
	} {
		f.Run(t, "", args...).WantText(t, 0)
	}
	f.Run(t, "", "check").WantText(t, 2)
}

func TestCopyRefusesTarget(t *testing.T) {
	t.Parallel()
	s, other := filled(t), filled(t)
	got := s.Run(t, "", "copy", "--to-data", other.Data)
	if got.Code != 2 || !strings.HasPrefix(got.Stderr, "merchant-orders: --to-data (MERCHANT_ORDERS_TO_DATA): the target is neither empty nor an earlier copy of this installation: ") {
		t.Errorf("to another installation: %+v", got)
	}
	got = s.Run(t, "", "copy", "--to-data", s.Data)
	if got.Code != 1 || !strings.HasPrefix(got.Stderr, "merchant-orders: source and target are the same database, or ") {
		t.Errorf("to itself: %+v", got)
	}
	got = apptest.RunIn(t, []string{"MERCHANT_ORDERS_TO_DATABASE=postgres://nobody:secret@127.0.0.1:1/none"}, "", "copy", "--data", s.Data)
	if got.Code != 2 || !strings.HasPrefix(got.Stderr, "merchant-orders: --to-database (MERCHANT_ORDERS_TO_DATABASE): ") || strings.Contains(got.Stderr, "secret") {
		t.Errorf("to a server that does not exist: %+v", got)
	}
}

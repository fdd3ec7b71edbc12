package app_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
)

// elsewhere returns the addresses of a new PostgreSQL database and a new bucket.
func elsewhere(t *testing.T) (database, storage string) {
	t.Helper()
	bucket, endpoint := s3test.Bucket(t)
	return pgtest.Database(t), "s3://" + bucket + "?region=" + s3test.Region + "&endpoint=" + endpoint
}

// copied runs a copy that has to succeed, and returns its first line.
func copied(t *testing.T, f apptest.Folder, args ...string) string {
	t.Helper()
	got := f.Run(t, "", append([]string{"copy"}, args...)...)
	if got.Code != 0 || got.Stderr != "" || !strings.Contains(got.Stdout, "\nTo switch over, ") {
		t.Fatalf("copy: %+v", got)
	}
	first, _, _ := strings.Cut(got.Stdout, "\n")
	return first
}

// checked runs a check that has to find nothing, and returns its line.
func checked(t *testing.T, f apptest.Folder, args ...string) string {
	t.Helper()
	got := f.Run(t, "", append([]string{"check"}, args...)...)
	if got.Code != 0 || !strings.HasSuffix(got.Stdout, "orphans 0: no findings\n") {
		t.Errorf("check: %+v", got)
	}
	return got.Stdout
}

// TestCopyThereAndBack grows from a data folder to PostgreSQL and S3 and back into
// another folder, with a server on each that knows the same.
func TestCopyThereAndBack(t *testing.T) {
	t.Parallel()
	s := filled(t)
	database, storage := elsewhere(t)
	if got, want := copied(t, s.Folder, "--to-database", database, "--to-storage", storage), "copied: rows 19, files 2; all else was there"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if status, body := call(t, "PATCH", s.BaseURL+"/v2/orders/T-2/accept", s.Token, ""); status != 200 {
		t.Fatalf("accept: %d %s", status, body)
	}
	upload(t, s.BaseURL, s.Token, "T-3", "late.pdf", "late")
	order := func(base string) string {
		status, body := get(t, base+"/v2/orders", s.Token)
		if status != 200 {
			t.Errorf("list: %d %s", status, body)
		}
		return body
	}
	want := order(s.BaseURL)
	s.Stop(t)
	copied(t, s.Folder, "--to-database", database, "--to-storage", storage)
	if got, want := copied(t, s.Folder, "--to-database", database, "--to-storage", storage), "copied: rows 0, files 0; all else was there"; got != want {
		t.Errorf("once more: got %q, want %q", got, want)
	}
	there := []string{"--database", database, "--storage", storage}
	if got, want := checked(t, s.Folder, there...), checked(t, s.Folder); got != want {
		t.Errorf("there check says %q, here %q", got, want)
	}
	grown := apptest.StartOn(t, filepath.Join(t.TempDir(), "spool"), there...)
	if got := order(grown.BaseURL); got != want {
		t.Errorf("the server on PostgreSQL and S3 says\n%s\nwant\n%s", got, want)
	}
	file := grown.BaseURL + "/storage/" + strings.Split(strings.TrimPrefix(storage, "s3://"), "?")[0]
	file = strings.Replace(file, "/storage/", "/storage/"+s3test.Region+"/", 1) + "/invoices/T-3/late.pdf"
	if status, body := get(t, file, s.Token); status != 200 || body != "late" {
		t.Errorf("a file there: %d %q", status, body)
	}
	grown.Stop(t)
	back := folder(t)
	copied(t, grown.Folder, append(there, "--to-data", back.Data)...)
	checked(t, back)
	if got := order(apptest.StartOn(t, back.Data).BaseURL); got != want {
		t.Errorf("back again the server says\n%s\nwant\n%s", got, want)
	}
}

// TestCopyWhileAServerWrites copies beside a server that takes in orders, accepts
// them and stores files, and once more after its end.
func TestCopyWhileAServerWrites(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	database, storage := elsewhere(t)
	to := []string{"--to-database", database, "--to-storage", storage}
	turns := make(chan struct{}, 1000) // one for each order
	var writers sync.WaitGroup
	for writer := range 2 {
		writers.Go(func() {
			n := 1 + writer
			for range turns {
				s.Import(t, document(n))
				reference := fmt.Sprintf("T-%d", n)
				if status, body := call(t, http.MethodPatch, s.BaseURL+"/v2/orders/"+reference+"/accept", s.Token, ""); status != 200 {
					t.Errorf("accept: %d %s", status, body)
				}
				upload(t, s.BaseURL, s.Token, reference, "a.pdf", reference)
				n += 2
			}
		})
	}
	stop := sync.OnceFunc(func() {
		close(turns)
		writers.Wait()
	})
	defer stop()
	for range 3 {
		// The first is there before the copy begins, the others come meanwhile.
		for range 20 {
			turns <- struct{}{}
		}
		eventually(t, func() bool { return len(turns) < 19 })
		copied(t, s.Folder, to...)
		checked(t, s.Folder, "--database", database, "--storage", storage)
		checked(t, s.Folder)
	}
	stop()
	s.Stop(t)
	copied(t, s.Folder, to...)
	if got, want := checked(t, s.Folder, "--database", database, "--storage", storage), checked(t, s.Folder); got != want {
		t.Errorf("there check says %q, here %q", got, want)
	}
	if got, want := copied(t, s.Folder, to...), "copied: rows 0, files 0; all else was there"; got != want {
		t.Errorf("once more: %q, want %q", got, want)
	}
}

// TestCopyIsKilled kills the program in the midst of copying, at one place after
// another, and runs it again.
func TestCopyIsKilled(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	var documents [][]byte
	for n := range 2500 {
		documents = append(documents, document(n+1))
	}
	f.Import(t, documents...)
	database, storage := elsewhere(t)
	args := []string{"copy", "--data", f.Data, "--to-database", database, "--to-storage", storage}
	db, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	orders := func() int {
		n := 0 // also while there are no tables yet
		_ = db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM orders").Scan(&n)
		return n
	}
	for _, enough := range []int{1, 900, 1800} {
		cmd := apptest.Command(t, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		over := false
		for !over && orders() < enough {
			select {
			case err := <-ended:
				t.Logf("at its end before %d orders: %v", enough, err)
				over = true
			default:
			}
		}
		_ = cmd.Process.Kill()
		if !over {
			<-ended
		}
	}
	copied(t, f, args[3:]...)
	if got, want := checked(t, f, "--database", database, "--storage", storage), checked(t, f); got != want {
		t.Errorf("there check says %q, here %q", got, want)
	}
}

func TestCopyRefuses(t *testing.T) {
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
	got = s.Run(t, "", "copy", "--to-database", "postgres://nobody:secret@127.0.0.1:1/none")
	if got.Code != 2 || !strings.HasPrefix(got.Stderr, "merchant-orders: --to-database (MERCHANT_ORDERS_TO_DATABASE): ") || strings.Contains(got.Stderr, "secret") {
		t.Errorf("to a server that is not there: %+v", got)
	}
}

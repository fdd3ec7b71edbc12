package commands_test

import (
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/testenv"
)

// leaveReservation leaves what a crash during an upload leaves: a reservation made
// at a time, its stored file, and a staged file.
func leaveReservation(t *testing.T, f apptest.Folder, at time.Time) {
	t.Helper()
	db, err := store.OpenSQLite(t.Context(), filepath.Join(f.Data, "orders.db"), store.Options{})
	testenv.NoError(t, err)
	err = db.InTx(t.Context(), func(tx order.Tx) error {
		head, err := tx.LockOrder(t.Context(), 355, order.ByReference("T-1"))
		if err != nil {
			return err
		}
		_, err = tx.ReserveInvoice(t.Context(), head, order.Invoice{Name: "left.pdf", Size: 1, CreatedAt: at})
		return err
	})
	testenv.NoError(t, err)
	testenv.NoError(t, db.Close())
	files := testenv.Of(disk.Open(filepath.Join(f.Data, "files"))).Must(t)
	for _, path := range []string{order.InvoicePath("T-1", "left.pdf"), ""} {
		staged := testenv.Of(files.Stage(t.Context())).Must(t)
		testenv.Of(staged.Write([]byte("x"))).Must(t)
		if path == "" {
			break // neither committed nor aborted, as after a crash
		}
		testenv.NoError(t, staged.Commit(t.Context(), path))
	}
	testenv.NoError(t, files.Close())
}

// allFiles returns the names of all stored and staged files.
func allFiles(t *testing.T, f apptest.Folder) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(filepath.Join(f.Data, "files"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, filepath.Base(path))
		}
		return err
	})
	testenv.NoError(t, err)
	return names
}

func TestOnlyServerRemovesUnfinishedUploads(t *testing.T) {
	t.Parallel()
	f := folder(t)
	token := f.Merchant(t, 355)
	f.Import(t, document(1))
	// Also a reservation made by a clock that was fast.
	leaveReservation(t, f, time.Now().Add(time.Hour))
	s := apptest.StartOn(t, f.Data)
	testenv.Equal(t, "files left", 0, len(allFiles(t, f)))
	for range order.MaxInvoices {
		upload(t, s.BaseURL, token, "T-1", "a.pdf", "x")
	}
}

func TestSecondServerKeepsRunningUploads(t *testing.T) {
	t.Parallel()
	first := apptest.Start(t)
	first.Import(t, document(1))
	leaveReservation(t, first.Folder, time.Now())
	second := apptest.StartOn(t, first.Data)
	testenv.Equal(t, "files beside a running upload", 2, len(allFiles(t, first.Folder)))
	for _, base := range []string{first.BaseURL, second.BaseURL} {
		testenv.Send(t, first.Token, "GET", base+"/v2/orders/T-1", "").WantStatus(t, 200)
	}
	first.Stop(t)
	second.Stop(t)
	apptest.StartOn(t, first.Data)
	testenv.Equal(t, "files left after both have ended", 0, len(allFiles(t, first.Folder)))
}

func TestSecondServerExpiresOldReservations(t *testing.T) {
	t.Parallel()
	first := apptest.Start(t)
	first.Import(t, document(1))
	leaveReservation(t, first.Folder, time.Now().Add(-2*order.ReservationTimeout))
	apptest.StartOn(t, first.Data)
	if left := allFiles(t, first.Folder); len(left) != 1 || left[0] == "left.pdf" {
		t.Errorf("%v left, want the staged file only", left)
	}
}

// TestServerPurges starts a server that purges files as soon as they are deleted,
// after one that keeps them.
func TestServerPurges(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.Import(t, document(1))
	upload(t, s.BaseURL, s.Token, "T-1", "a.pdf", "x")
	testenv.Send(t, s.Token, "DELETE", s.BaseURL+"/v2/orders/T-1/invoices/1", "").WantStatus(t, 200)
	deleted := time.Now()
	s.Stop(t)
	apptest.StartOn(t, s.Data).Stop(t)
	if left := allFiles(t, s.Folder); len(left) != 1 {
		t.Fatalf("%v left by a server with the default", left)
	}
	// Times are stored in whole seconds.
	time.Sleep(time.Until(deleted.Add(2 * time.Second)))
	s.Folder.Serve(t, "--purge-deleted-after=1ns")
	testenv.Eventually(t, "the deleted file is purged", func() bool { return len(allFiles(t, s.Folder)) == 0 })
}

// Proves decision 6 (deleted files).
func TestPurge(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.Import(t, document(1))
	upload(t, s.BaseURL, s.Token, "T-1", "a.pdf", "x")
	upload(t, s.BaseURL, s.Token, "T-1", "b.pdf", "x")
	testenv.Send(t, s.Token, "DELETE", s.BaseURL+"/v2/orders/T-1/invoices/1", "").WantStatus(t, 200)
	for _, tc := range []struct {
		flags []string
		want  string
		left  int
	}{
		{nil, "files purged: 0\n", 2},
		{[]string{"--deleted-before=0s", "--dry-run"}, "files to purge: 1\n", 2},
		{[]string{"--deleted-before=1h"}, "files purged: 0\n", 2},
		{[]string{"--deleted-before=0s"}, "files purged: 1\n", 1},
		{[]string{"--deleted-before=0s"}, "files purged: 0\n", 1},
	} {
		got := s.Run(t, "", append([]string{"purge"}, tc.flags...)...)
		if left := allFiles(t, s.Folder); got.Code != 0 || got.Stdout != tc.want || len(left) != tc.left {
			t.Errorf("purge %v: %+v, %v left", tc.flags, got, left)
		}
	}
}

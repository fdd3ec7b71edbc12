package order_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// upload uploads a file to the order of these tests.
func upload(t testing.TB, s *order.Service, filename, text string) (order.LockedOrder, order.Invoice, error) {
	t.Helper()
	return uploadWith(t.Context(), t, s, filename, text)
}

func uploadWith(ctx context.Context, t testing.TB, s *order.Service, filename, text string) (order.LockedOrder, order.Invoice, error) {
	t.Helper()
	staged, err := s.StageFile(ctx)
	if err != nil {
		return order.LockedOrder{}, order.Invoice{}, err
	}
	defer staged.Abort()
	testenv.Of(io.WriteString(staged, text)).Must(t)
	content := order.Content{Staged: staged, Size: int64(len(text)), SHA256: sha256.Sum256([]byte(text))}
	done, err := s.Upload(ctx, order.CommandFor(merchant), order.ByLegacyID(1), filename, content, order.Options[order.WriteResult]{})
	return done.LockedOrder, done.Invoice, err
}

// wantNoTrace checks that nothing of an upload remains except its used name.
func wantNoTrace(t *testing.T, db *database, files *folder) {
	t.Helper()
	testenv.Equal(t, "reservations left", 0, db.toClean(t))
	if slots, events := db.slots(t, 1), db.events(t, 1); slots != 0 || events != nil {
		t.Errorf("%d slots used, events %+v", slots, events)
	}
	if paths := files.paths(t); len(paths) > 0 {
		t.Errorf("files left: %q", paths)
	}
}

// wantUploadFailed checks that an error is ErrUploadFailed and no other.
func wantUploadFailed(t *testing.T, err error) {
	t.Helper()
	testenv.Equal(t, "error", order.ErrUploadFailed, err)
	for _, other := range []error{
		order.ErrNotFound, order.ErrInvoiceNotFound, order.ErrUnsupportedFileType, order.ErrFileTooBig, order.ErrTooManyFiles, order.ErrUnavailable,
	} {
		if errors.Is(err, other) {
			t.Errorf("error %v is %v too", err, other)
		}
	}
}

// Proves decision 6 (names, URL, ids), spec 2.1.
func TestNamesAreNeverReused(t *testing.T) {
	t.Parallel()
	db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
	s := newService(db, files)
	var names []string
	for i := range 4 {
		_, invoice, err := upload(t, s, "a.pdf", fmt.Sprint("file ", i))
		testenv.NoError(t, err)
		names = append(names, invoice.Name)
		if i == 1 {
			testenv.Of(s.DeleteInvoice(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), invoice.ID, order.Options[order.WriteResult]{})).Must(t)
			testenv.Of(s.PurgeDeletedFiles(t.Context(), noonUTC.Add(time.Second))).Want(t, "purged files", 1)
		}
	}
	testenv.Equal(t, "names", []string{"a.pdf", "a-1.pdf", "a-2.pdf", "a-3.pdf"}, names)
	testenv.Equal(t, "the first file is now", "file 0", files.content(t, "invoices/SF-1/a.pdf"))
	if _, _, err := upload(t, s, "a.pdf", "one too many"); !errors.Is(err, order.ErrTooManyFiles) {
		t.Errorf("a fourth active file: error %v", err)
	}
}

// TestUploadBesideUnknownFiles: after a failover or a restore the storage has files whose
// entries are lost. An upload takes another name, and they stay as they are.
func TestUploadBesideUnknownFiles(t *testing.T) {
	t.Parallel()
	db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
	s := newService(db, files)
	lost := []string{"a.pdf", "a-1.pdf", "a-2.pdf", "b.PNG"}
	for _, name := range lost {
		files.write(t, "invoices/SF-1/"+name, "lost")
	}
	for name, want := range map[string]string{"a.pdf": "a-3.pdf", "b.PNG": "b-1.PNG"} {
		_, invoice, err := upload(t, s, name, "bytes")
		testenv.NoError(t, err)
		testenv.Equal(t, "name", want, invoice.Name)
		testenv.Equal(t, want, "bytes", files.content(t, "invoices/SF-1/"+want))
	}
	testenv.Equal(t, "slots, reservations", [2]int{2, 0}, [2]int{db.slots(t, 1), db.toClean(t)})
	testenv.Of(s.ExpireReservations(t.Context(), noonUTC.Add(time.Second))).Want(t, "expired", 0)
	for _, name := range lost {
		testenv.Equal(t, name, "lost", files.content(t, "invoices/SF-1/"+name))
	}
}

// TestUploadFails: whatever fails, the client gets the same error and nothing
// remains, at once or after the reservation has expired.
func TestUploadFails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		store, file string // the operations that fail
		name2       string // stored name of the next upload with that name
		expires     int    // reservations that the janitor expires
	}{
		{"stage", "", "Stage", "a.pdf", 0},
		{"begin", "InTx", "", "a.pdf", 0},
		{"lock", "LockOrder", "", "a.pdf", 0},
		{"name", "InvoiceNameUsed", "", "a.pdf", 0},
		{"reserve", "ReserveInvoice", "", "a.pdf", 0},
		{"commit", "commit", "", "a.pdf", 0},
		{"store", "", "Commit", "a.pdf", 0},
		{"activate", "ActivateInvoice", "", "a-1.pdf", 0},
		{"store, release", "ReleaseInvoice", "Commit", "a-1.pdf", 1},
		{"activate, expire", "ActivateInvoice|ExpireReservation", "", "a-1.pdf", 1},
		{"activate, purge", "ActivateInvoice|MarkPurged", "", "a-1.pdf", 1},
		{"activate, remove", "ActivateInvoice", "Remove", "a-1.pdf", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
			s := newService(db, files)
			db.fail, files.fail = failing(strings.Split(test.store, "|")...), failing(test.file)
			_, _, err := upload(t, s, "a.pdf", "bytes")
			wantUploadFailed(t, err)
			if err != nil && !strings.Contains(err.Error(), errBroken.Error()) {
				t.Errorf("error %v does not contain the cause", err)
			}
			db.fail, files.fail = nil, nil
			testenv.Of(s.ExpireReservations(t.Context(), noonUTC.Add(time.Second))).Want(t, "expired", test.expires)
			wantNoTrace(t, db, files)
			_, invoice, err := upload(t, s, "a.pdf", "again")
			if err != nil || invoice.Name != test.name2 {
				t.Errorf("the stored name of the next upload is %q, error %v", invoice.Name, err)
			}
		})
	}
}

// TestUploadWithLostCommitResponse: an upload whose last commit succeeded although
// it returned an error is a success.
func TestUploadWithLostCommitResponse(t *testing.T) {
	t.Parallel()
	db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
	commits := 0
	db.afterCommit = func() error {
		if commits++; commits == 2 {
			return errBroken
		}
		return nil
	}
	_, invoice, err := upload(t, newService(db, files), "a.pdf", "bytes")
	if err != nil || invoice.Name != "a.pdf" {
		t.Fatalf("invoice %+v, error %v", invoice, err)
	}
	if o, slots, events := db.order(t, 1), db.slots(t, 1), db.events(t, 1); len(o.Invoices) != 1 || slots != 1 || len(events) != 1 || len(files.paths(t)) != 1 {
		t.Errorf("order %+v, %d slots used, events %+v, files %q", o, slots, events, files.paths(t))
	}
}

// TestUploadOutcomeUnknown: if the file may be stored, its slot is free at once,
// its name stays used, and the janitor removes the file.
func TestUploadOutcomeUnknown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		fail string // operation of the store that fails too
		free bool   // whether the slot is free at once
	}{
		{"alone", "", true},
		{"and the store fails", "ExpireReservation", false},
	} {
		db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
		s := newService(db, files)
		files.committed = func() error { return fmt.Errorf("no response in time: %w", order.ErrOutcomeUnknown) }
		db.fail = failing(test.fail)
		_, _, err := upload(t, s, "a.pdf", "bytes")
		wantUploadFailed(t, err)
		if free := db.slots(t, 1) == 0; free != test.free {
			t.Errorf("%s: the slot is free: %v", test.name, free)
		}
		if len(files.paths(t)) != 1 {
			t.Fatalf("%s: files %q", test.name, files.paths(t))
		}
		db.fail, files.committed = nil, nil
		_, invoice, err := upload(t, s, "a.pdf", "again")
		if err != nil || invoice.Name != "a-1.pdf" {
			t.Errorf("%s: the stored name of the next upload is %q, error %v", test.name, invoice.Name, err)
		}
		// Only the first upload has a reservation to expire.
		testenv.Of(s.ExpireReservations(t.Context(), noonUTC.Add(time.Second))).Want(t, test.name+": expired", 1)
		testenv.Equal(t, fmt.Sprintf("%s: files", test.name), []string{"invoices/SF-1/a-1.pdf"}, files.paths(t))
		testenv.Equal(t, test.name+": slots used", 1, db.slots(t, 1))
	}
}

// TestReservationExpiresDuringUpload: the upload fails and removes its file, which
// was stored after the reservation had expired.
func TestReservationExpiresDuringUpload(t *testing.T) {
	t.Parallel()
	db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
	s := newService(db, files)
	files.committing = func(context.Context) {
		testenv.Of(s.ExpireReservations(t.Context(), noonUTC.Add(time.Second))).Want(t, "expired", 1)
	}
	_, _, err := upload(t, s, "a.pdf", "bytes")
	wantUploadFailed(t, err)
	wantNoTrace(t, db, files)
}

// TestReservationExpiresBeforeFailure: a slot is freed once, by the expiry, and
// not again by the upload that fails.
func TestReservationExpiresBeforeFailure(t *testing.T) {
	t.Parallel()
	db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
	s := newService(db, files)
	files.fail = failing("Commit")
	files.committing = func(context.Context) {
		testenv.Of(s.ExpireReservations(t.Context(), noonUTC.Add(time.Second))).WantError(t, "the sweep", nil)
	}
	_, _, err := upload(t, s, "a.pdf", "bytes")
	wantUploadFailed(t, err)
	wantNoTrace(t, db, files)
}

// TestClientDisconnects: after the reservation the upload goes on without the
// client, with a deadline.
func TestClientDisconnects(t *testing.T) {
	t.Parallel()
	db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
	ctx, leave := context.WithCancel(t.Context())
	files.committing = func(committing context.Context) {
		leave()
		testenv.Equal(t, "the context of a commit whose client has gone", nil, committing.Err())
		if _, bounded := committing.Deadline(); !bounded {
			t.Error("the commit has no deadline")
		}
	}
	if _, _, err := uploadWith(ctx, t, newService(db, files), "a.pdf", "bytes"); err != nil {
		t.Fatal(err)
	}
	testenv.Equal(t, "invoices", 1, len(db.order(t, 1).Invoices))
}

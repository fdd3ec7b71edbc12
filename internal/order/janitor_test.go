package order_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestOpenInvoice has a storage that cannot be reached. What else an invoice has to say is in
// the tests of downloads.
func TestOpenInvoice(t *testing.T) {
	t.Parallel()
	db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
	s := newService(db, files)
	_, _, err := upload(t, s, "a.pdf", "bytes")
	testenv.NoError(t, err)
	files.fail = failing("Open")
	if _, _, err := s.OpenInvoice(t.Context(), merchant, "SF-1", "a.pdf"); !errors.Is(err, order.ErrUnavailable) || errors.Is(err, order.ErrInvoiceDamaged) {
		t.Errorf("storage out of reach: error %v", err)
	}
}

// The statuses of a file for withEntries.
const (
	reserved = iota
	expired
	active
	deleted
)

// withEntries returns a database whose orders have files of one status, an hour old.
func withEntries(t *testing.T, orders, status int) (*database, *folder) {
	t.Helper()
	samples := make([]order.Order, orders)
	for i := range samples {
		samples[i] = numbered(int64(i+1), order.Registered)
	}
	db, files := newDatabase(t, samples...), newFolder(t)
	ctx, cause := t.Context(), order.Cause{By: order.Caller{Actor: order.ActorMerchant}, At: noonUTC.Add(-time.Hour)}
	for _, o := range samples {
		stored := order.StoredInvoice{MerchantID: merchant, OrderLegacyID: o.LegacyID, Reference: o.Reference}
		err := db.DB.InTx(ctx, func(tx order.Tx) error {
			locked, err := tx.LockOrder(ctx, merchant, order.ByLegacyID(o.LegacyID))
			if err == nil {
				stored.ID, err = tx.ReserveInvoice(ctx, locked, order.Invoice{Name: "a.pdf", CreatedAt: cause.At})
			}
			if err == nil && status >= active {
				err = tx.ActivateInvoice(ctx, locked, order.Invoice{ID: stored.ID}, cause)
			}
			if err == nil && status == deleted {
				err = tx.DeleteInvoice(ctx, locked, stored.ID, cause)
			}
			return err
		})
		if err == nil && status == expired {
			_, err = db.DB.ExpireReservation(ctx, stored, cause.At)
		}
		testenv.NoError(t, err)
		files.write(t, order.InvoicePath(o.Reference, "a.pdf"), "bytes")
	}
	return db, files
}

// toClean returns how many files of a database the janitor would remove.
func (db *database) toClean(t *testing.T) int {
	t.Helper()
	reservations := testenv.Of(db.DB.ExpiredReservations(t.Context(), noonUTC.Add(time.Hour), 1000)).Must(t)
	files := testenv.Of(db.DB.DeletedInvoices(t.Context(), noonUTC.Add(time.Hour), 1000)).Must(t)
	return len(reservations) + len(files)
}

func TestExpireAndPurge(t *testing.T) {
	t.Parallel()
	sweep, purge := (*order.Service).ExpireReservations, (*order.Service).PurgeDeletedFiles
	const many = 110 // more than a batch
	before, earlier := noonUTC, noonUTC.Add(-2*time.Hour)
	for _, test := range []struct {
		name   string
		do     func(*order.Service, context.Context, time.Time) (int, error)
		status int
		before time.Time
		want   int
	}{
		{"expires old reservations", sweep, reserved, before, many},
		{"does not expire recent reservations", sweep, reserved, earlier, 0},
		{"purges files of expired reservations", sweep, expired, earlier, many},
		{"expiry ignores active files", sweep, active, before, 0},
		{"expiry ignores deleted files", sweep, deleted, before, 0},
		{"purge removes deleted files", purge, deleted, before, many},
		{"purge ignores later deletions", purge, deleted, earlier, 0},
		{"purge ignores active files", purge, active, before, 0},
		{"purge ignores reservations", purge, reserved, before, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			orders := max(test.want, 2)
			db, files := withEntries(t, orders, test.status)
			testenv.Of(test.do(newService(db, files), t.Context(), test.before)).Want(t, "count", test.want)
			testenv.Equal(t, "files left", orders-test.want, len(files.paths(t)))
			wantClean, wantSlots := orders-test.want, 0
			if test.status == active {
				wantClean = 0
			}
			if test.want == 0 && (test.status == active || test.status == reserved) {
				wantSlots = 1
			}
			if clean, slots := db.toClean(t), db.slots(t, 1); clean != wantClean || slots != wantSlots {
				t.Errorf("%d files to remove, want %d; %d slots used, want %d", clean, wantClean, slots, wantSlots)
			}
		})
	}
}

func TestJanitorStops(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"ExpiredReservations", "ExpireReservation", "MarkPurged"} {
		db, files := withEntries(t, 3, reserved)
		db.fail = failing(operation)
		if n, err := newService(db, files).ExpireReservations(t.Context(), noonUTC); n != 0 || !errors.Is(err, errBroken) {
			t.Errorf("%s fails: %d, error %v", operation, n, err)
		}
	}
	db, files := withEntries(t, 3, deleted)
	files.fail = failing("Remove")
	if n, err := newService(db, files).PurgeDeletedFiles(t.Context(), noonUTC); n != 0 || !errors.Is(err, errBroken) {
		t.Errorf("removing fails: %d, error %v", n, err)
	}
	testenv.Equal(t, "files to remove", 3, db.toClean(t))
	ctx, cancel := context.WithCancel(t.Context())
	files.fail = func(string) error { cancel(); return nil }
	if n, err := newService(db, files).PurgeDeletedFiles(ctx, noonUTC); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %d, error %v", n, err)
	}
}

// TestUploadsBesideExpiry runs uploads, deletions and a janitor that expires
// every reservation at the same time. Whichever wins, every visible entry has its
// own bytes, the slots are counted right, and nothing else remains.
// Proves spec 8.
func TestUploadsBesideExpiry(t *testing.T) {
	t.Parallel()
	db, files := newDatabase(t, sample(order.Registered)), newFolder(t)
	s := newService(db, files)
	future := noonUTC.Add(time.Hour)
	done := make(chan struct{})
	var janitor, uploads sync.WaitGroup
	janitor.Go(func() {
		for {
			testenv.Of(s.ExpireReservations(t.Context(), future)).WantError(t, "sweep", nil)
			select {
			case <-done:
				return
			default:
			}
		}
	})
	var mu sync.Mutex
	texts := make(map[int64]string)
	for i := range 60 {
		uploads.Go(func() {
			text := fmt.Sprint("file ", i)
			_, invoice, err := upload(t, s, "a.pdf", text)
			if err != nil {
				if !errors.Is(err, order.ErrTooManyFiles) && !errors.Is(err, order.ErrUploadFailed) {
					t.Errorf("upload %d: %v", i, err)
				}
				return
			}
			mu.Lock()
			texts[invoice.ID] = text
			mu.Unlock()
			if i%3 == 0 {
				if _, err := s.DeleteInvoice(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), invoice.ID, order.Options[order.WriteResult]{}); err != nil {
					t.Errorf("delete %d: %v", i, err)
				}
			}
		})
	}
	uploads.Wait()
	close(done)
	janitor.Wait()

	entries := testenv.Of(db.Inspect(t.Context(), merchant, "SF-1")).Must(t).Files
	shown, kept := 0, 0
	for _, e := range entries {
		text, acknowledged := texts[e.ID]
		if !acknowledged {
			continue // expired
		}
		kept++
		if e.DeletedAt.IsZero() {
			shown++
		}
		testenv.Equal(t, fmt.Sprintf("entry %d holds", e.ID), text, files.content(t, order.InvoicePath("SF-1", e.Name)))
	}
	if slots := db.slots(t, 1); shown != slots || shown > order.MaxInvoices || shown != len(db.order(t, 1).Invoices) || kept != len(texts) || kept != len(files.paths(t)) {
		t.Errorf("%d shown, %d slots used, %d kept, %d acknowledged, %d files", shown, slots, kept, len(texts), len(files.paths(t)))
	}
}

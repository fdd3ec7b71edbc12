package order_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
)

func TestDeleteInvoice(t *testing.T) {
	t.Parallel()
	other := order.LockedOrder{MerchantID: merchant, LegacyID: 2, Reference: "SF-2", State: order.Registered}
	store, files := newFakeStore(locked(order.Registered), other), newFakeFiles()
	s := newService(store, files)
	ids := make(map[string]int64)
	for _, name := range []string{"a.pdf", "b.pdf", "c.pdf"} {
		_, invoice, err := upload(t, s, name, name)
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = invoice.ID
	}
	for _, test := range []struct {
		name     string
		merchant int64
		order    order.Identifier
		id       int64
	}{
		{"another merchant's", stranger, order.ByLegacyID(1), ids["a.pdf"]},
		{"of another order", merchant, order.ByLegacyID(2), ids["a.pdf"]},
		{"of no order", merchant, order.ByReference("SF-9"), ids["a.pdf"]},
		{"missing", merchant, order.ByLegacyID(1), 999},
		{"zero", merchant, order.ByLegacyID(1), 0},
		{"negative", merchant, order.ByLegacyID(1), -1},
	} {
		if _, err := s.DeleteInvoice(t.Context(), test.merchant, test.order, test.id, order.WriteOptions{}); !errors.Is(err, order.ErrInvoiceNotFound) || errors.Is(err, order.ErrNotFound) {
			t.Errorf("%s: error %v", test.name, err)
		}
	}
	got, err := s.DeleteInvoice(t.Context(), merchant, order.ByReference("SF-1"), ids["b.pdf"], order.WriteOptions{})
	if err != nil || got.LegacyID != 1 {
		t.Fatalf("order %+v, error %v", got, err)
	}
	var names []string
	for _, invoice := range got.Invoices {
		names = append(names, invoice.Name)
	}
	if diff := cmp.Diff([]string{"a.pdf", "c.pdf"}, names); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	o := store.orders[1]
	event := order.Event{Seq: 4, Type: order.InvoiceDeleted, Actor: order.ActorMerchant, At: noonUTC, InvoiceID: ids["b.pdf"]}
	if diff := cmp.Diff(event, o.events[len(o.events)-1]); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if len(files.paths()) != 3 {
		t.Errorf("the bytes of a deleted invoice are gone: %q", files.paths())
	}
	if _, err := s.DeleteInvoice(t.Context(), merchant, order.ByLegacyID(1), ids["b.pdf"], order.WriteOptions{}); !errors.Is(err, order.ErrInvoiceNotFound) {
		t.Errorf("deleted twice: error %v", err)
	}
	if len(o.events) != 4 {
		t.Errorf("%d events", len(o.events))
	}
}

func TestOpenInvoice(t *testing.T) {
	t.Parallel()
	store, files := newFakeStore(locked(order.Registered)), newFakeFiles()
	s := newService(store, files)
	_, invoice, err := upload(t, s, "a.pdf", "bytes")
	if err != nil {
		t.Fatal(err)
	}
	found, file, err := s.OpenInvoice(t.Context(), merchant, "SF-1", "a.pdf")
	if err != nil || found != invoice {
		t.Fatalf("invoice %+v, error %v", found, err)
	}
	if got, err := io.ReadAll(file); string(got) != "bytes" || err != nil {
		t.Errorf("read %q, error %v", got, err)
	}
	if _, _, err := s.OpenInvoice(t.Context(), stranger, "SF-1", "a.pdf"); !errors.Is(err, order.ErrInvoiceNotFound) {
		t.Errorf("another merchant's: error %v", err)
	}

	calls := store.calls
	for _, path := range [][2]string{
		{"..", "a.pdf"}, {"", "a.pdf"}, {"SF-1/..", "a.pdf"}, {"a\x00", "a.pdf"}, {"SF-1", ""}, {"SF-1", "../a.pdf"}, {"SF-1", `..\a.pdf`},
		{"SF-1", "a.pdf\x00"}, {"SF-1", "\xff.pdf"}, {"SF-1", "x/a.pdf"},
	} {
		if _, _, err := s.OpenInvoice(t.Context(), merchant, path[0], path[1]); !errors.Is(err, order.ErrInvoiceNotFound) {
			t.Errorf("%q: error %v", path, err)
		}
	}
	if store.calls != calls {
		t.Error("a path that no file can have reached the store")
	}

	files.fail = failing("Open")
	if _, _, err := s.OpenInvoice(t.Context(), merchant, "SF-1", "a.pdf"); !errors.Is(err, order.ErrUnavailable) {
		t.Errorf("storage out of reach: error %v", err)
	}
	files.fail = nil
	for _, content := range []string{"", "byte", "bytes2", "Bytes"} {
		files.bytes["invoices/SF-1/a.pdf"] = []byte(content)
		_, _, err := s.OpenInvoice(t.Context(), merchant, "SF-1", "a.pdf")
		if !errors.Is(err, order.ErrInvoiceDamaged) || errors.Is(err, order.ErrInvoiceNotFound) || errors.Is(err, order.ErrUnavailable) {
			t.Errorf("content %q: error %v, want %v", content, err, order.ErrInvoiceDamaged)
		}
	}
	files.bytes = nil
	_, _, err = s.OpenInvoice(t.Context(), merchant, "SF-1", "a.pdf")
	if !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, order.ErrInvoiceDamaged) || errors.Is(err, order.ErrInvoiceNotFound) || errors.Is(err, order.ErrUnavailable) {
		t.Errorf("an active invoice without its file: error %v, want a fault of the service", err)
	}
}

// storeWithEntries returns a store with entries of one status, an hour old, and
// their files.
func storeWithEntries(entries, status int) (*fakeStore, *fakeFiles) {
	store, files := newFakeStore(), newFakeFiles()
	for n := range entries {
		number := int64(n + 1)
		h := order.LockedOrder{MerchantID: merchant, LegacyID: number, Reference: fmt.Sprint("SF-", number), State: order.Registered}
		if status == reserved || status == active {
			h.ActiveInvoices = 1
		}
		at := noonUTC.Add(-time.Hour)
		store.orders[number] = &fakeOrder{head: h, entries: []fakeEntry{{
			Invoice: order.Invoice{ID: number, Name: "a.pdf", CreatedAt: at}, status: status, ended: at,
		}}}
		files.bytes[order.InvoicePath(h.Reference, "a.pdf")] = []byte("bytes")
	}
	return store, files
}

func TestExpireAndPurge(t *testing.T) {
	t.Parallel()
	sweep, purge := (*order.Service).ExpireReservations, (*order.Service).PurgeDeletedFiles
	before, earlier := noonUTC, noonUTC.Add(-2*time.Hour)
	for _, test := range []struct {
		name   string
		do     func(*order.Service, context.Context, time.Time) (int, error)
		status int
		before time.Time
		want   int
	}{
		{"expires old reservations", sweep, reserved, before, 250},
		{"does not expire recent reservations", sweep, reserved, earlier, 0},
		{"purges files of expired reservations", sweep, expired, earlier, 250},
		{"expiry ignores active files", sweep, active, before, 0},
		{"expiry ignores deleted files", sweep, deleted, before, 0},
		{"purge removes deleted files", purge, deleted, before, 250},
		{"purge ignores later deletions", purge, deleted, earlier, 0},
		{"purge ignores active files", purge, active, before, 0},
		{"purge ignores reservations", purge, reserved, before, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store, files := storeWithEntries(250, test.status)
			n, err := test.do(newService(store, files), t.Context(), test.before)
			if n != test.want || err != nil {
				t.Errorf("%d, want %d; error %v", n, test.want, err)
			}
			if got := len(files.paths()); got != 250-test.want {
				t.Errorf("%d files left", got)
			}
			for _, o := range store.orders {
				e := o.entries[0]
				if e.purged != (test.want > 0) || test.status == reserved && test.want > 0 && (e.status != expired || o.head.ActiveInvoices != 0) {
					t.Errorf("order %+v", o)
				}
			}
		})
	}
}

func TestJanitorStops(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"ExpiredReservations", "ExpireReservation", "MarkPurged"} {
		store, files := storeWithEntries(3, reserved)
		store.fail = failing(operation)
		if n, err := newService(store, files).ExpireReservations(t.Context(), noonUTC); n != 0 || !errors.Is(err, errBroken) {
			t.Errorf("%s fails: %d, error %v", operation, n, err)
		}
	}
	store, files := storeWithEntries(3, deleted)
	files.fail = failing("Remove")
	if n, err := newService(store, files).PurgeDeletedFiles(t.Context(), noonUTC); n != 0 || !errors.Is(err, errBroken) {
		t.Errorf("removing fails: %d, error %v", n, err)
	}
	for _, o := range store.orders {
		if o.entries[0].purged {
			t.Error("marked as purged, but the file exists")
		}
	}
	store, files = storeWithEntries(3, deleted)
	ctx, cancel := context.WithCancel(t.Context())
	files.fail = func(string) error { cancel(); return nil }
	if n, err := newService(store, files).PurgeDeletedFiles(ctx, noonUTC); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %d, error %v", n, err)
	}
}

// TestUploadsBesideExpiry runs uploads, deletions and a janitor that expires
// every reservation at the same time. Whichever wins, every visible entry has its
// own bytes, the slots are counted right, and nothing else remains.
func TestUploadsBesideExpiry(t *testing.T) {
	t.Parallel()
	store, files := newFakeStore(locked(order.Registered)), newFakeFiles()
	s := newService(store, files)
	future := noonUTC.Add(time.Hour)
	done := make(chan struct{})
	var janitor, uploads sync.WaitGroup
	janitor.Go(func() {
		for {
			if _, err := s.ExpireReservations(t.Context(), future); err != nil {
				t.Errorf("sweep: %v", err)
			}
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
				if _, err := s.DeleteInvoice(t.Context(), merchant, order.ByLegacyID(1), invoice.ID, order.WriteOptions{}); err != nil {
					t.Errorf("delete %d: %v", i, err)
				}
			}
		})
	}
	uploads.Wait()
	close(done)
	janitor.Wait()

	o, shown, kept := store.orders[1], 0, 0
	for _, e := range o.entries {
		if e.status == active {
			shown++
		}
		if e.status == active || e.status == deleted {
			kept++
			if got := files.content(order.InvoicePath("SF-1", e.Name)); got != texts[e.ID] || got == "" {
				t.Errorf("entry %d holds %q, want %q", e.ID, got, texts[e.ID])
			}
		}
	}
	if shown != o.head.ActiveInvoices || shown > order.MaxInvoices || kept != len(texts) || kept != len(files.paths()) {
		t.Errorf("%d shown, %d slots used, %d kept, %d acknowledged, %d files", shown, o.head.ActiveInvoices, kept, len(texts), len(files.paths()))
	}
}

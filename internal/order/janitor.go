package order

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Batch sizes of the background jobs.
const (
	fileBatch   = 100
	recordBatch = 500
)

// ExpireReservations ends the reservations that were made before a time and
// never activated, and removes their files. It returns how many it ended.
func (s *Service) ExpireReservations(ctx context.Context, before time.Time) (int, error) {
	return s.forEachInvoice(ctx,
		func() ([]StoredInvoice, error) { return s.store.ExpiredReservations(ctx, before, fileBatch) },
		func(invoice StoredInvoice) error {
			_, err := s.expire(ctx, invoice)
			return err
		})
}

// expire ends one reservation. The entry comes first: an upload that still runs
// can then no longer be activated, and no other file ever gets its name, so that
// removing the file cannot hit another one. It reports whether the entry is
// expired now.
func (s *Service) expire(ctx context.Context, invoice StoredInvoice) (bool, error) {
	expired, err := s.store.ExpireReservation(ctx, invoice, s.Now())
	if err != nil || !expired {
		return false, err
	}
	return true, s.purge(ctx, invoice)
}

// PurgeDeletedFiles removes the files of invoices that were soft-deleted before
// a time. Their entries stay, so that their names are never reused. It returns
// how many files it removed.
func (s *Service) PurgeDeletedFiles(ctx context.Context, before time.Time) (int, error) {
	return s.forEachInvoice(ctx,
		func() ([]StoredInvoice, error) { return s.store.DeletedInvoices(ctx, before, fileBatch) },
		func(invoice StoredInvoice) error { return s.purge(ctx, invoice) })
}

// CountDeletedFiles returns how many files PurgeDeletedFiles would remove.
func (s *Service) CountDeletedFiles(ctx context.Context, before time.Time) (int, error) {
	files, err := s.store.DeletedInvoices(ctx, before, math.MaxInt32)
	return len(files), err
}

// purge removes the file of an entry that is not active.
func (s *Service) purge(ctx context.Context, invoice StoredInvoice) error {
	if err := s.files.Remove(ctx, InvoicePath(invoice.Reference, invoice.Name)); err != nil {
		return err
	}
	return s.store.MarkPurged(ctx, invoice, s.Now())
}

// forEachInvoice processes batches until next returns none. An entry that fails
// does not stop the others of its batch. It stops after a batch with a failure,
// because the next batch would contain the entry again.
func (s *Service) forEachInvoice(ctx context.Context, next func() ([]StoredInvoice, error), process func(StoredInvoice) error) (int, error) {
	done := 0
	for {
		batch, err := next()
		if err != nil || len(batch) == 0 {
			return done, err
		}
		var failures error
		for _, invoice := range batch {
			if err := ctx.Err(); err != nil {
				return done, err
			}
			if err := process(invoice); err != nil {
				failures = errors.Join(failures, fmt.Errorf("order %s, invoice %d: %w", invoice.Reference, invoice.ID, err))
				continue
			}
			done++
		}
		if failures != nil {
			return done, failures
		}
	}
}

// DeleteExpiredIdempotencyRecords deletes the records older than
// IdempotencyRetention. It returns how many it deleted.
func (s *Service) DeleteExpiredIdempotencyRecords(ctx context.Context) (int, error) {
	before, total := s.Now().Add(-IdempotencyRetention), 0
	for {
		n, err := s.store.DeleteIdempotencyRecords(ctx, before, recordBatch)
		total += n
		if err != nil || n < recordBatch {
			return total, err
		}
	}
}

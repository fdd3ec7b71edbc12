package order

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// CommitTimeout bounds the time between the reservation of a place for a file
// and its activation.
const CommitTimeout = 30 * time.Second

// ReservationTimeout is how long a reservation is left alone by sweepers that
// cannot know whether its upload is still running. It is well above
// CommitTimeout.
const ReservationTimeout = 2 * CommitTimeout

// sweepBatch is how many entries one step of sweeping or purging looks at.
const sweepBatch = 100

// Content is the decoded content of an uploaded file, waiting in a StagedFile.
type Content struct {
	Staged StagedFile
	Size   int64 // bytes received, also when there were too many to keep
	SHA256 [32]byte
}

// StageFile opens a place for the content of an upload. The caller discards it
// when done, whatever became of it.
func (s *Service) StageFile(ctx context.Context) (StagedFile, error) {
	draft, err := s.files.Stage(ctx)
	if err != nil {
		return nil, uploadFault(err)
	}
	return draft, nil
}

// Upload stores an invoice file for an order. When it returns nil the file and
// its entry are durable. Errors, beside those of the attempt's key, in the order
// in which they are looked for: ErrNotFound, ErrPreconditionFailed, ErrUnsupportedFileType,
// ErrFileTooBig, ErrTooManyFiles, ErrUploadFailed.
//
// No transaction is open while the file is written: a place is reserved and
// committed, the file made durable, the entry activated and committed. A crash
// in between leaves a reservation that nobody sees and that a sweep takes back.
// The attempt's key is taken with the place and is under way as long as the
// place is reserved; its answer is kept when the entry is activated.
func (s *Service) Upload(ctx context.Context, merchantID int64, key Identifier, filename string, content Content, attempt WriteOptions) (WriteResult, error) {
	if !key.Valid() {
		return WriteResult{}, s.RecordRefusal(ctx, merchantID, attempt, ErrNotFound)
	}
	reserved, err := s.reserve(ctx, merchantID, key, filename, content, attempt)
	if err != nil {
		return WriteResult{}, err
	}
	// From here on a client that goes away must not leave the work half done.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CommitTimeout)
	defer cancel()
	path := InvoicePath(reserved.Reference, reserved.Invoice.Name)
	if err := content.Staged.Commit(ctx, path); err != nil {
		s.takeBack(ctx, reserved.LockedOrder, reserved.Invoice, !errors.Is(err, ErrOutcomeUnknown))
		return WriteResult{}, uploadFault(err)
	}
	done, err := s.activate(ctx, reserved, attempt)
	if err == nil || s.activated(ctx, reserved.LockedOrder, reserved.Invoice) {
		return done, nil
	}
	if errors.Is(err, ErrPreconditionFailed) {
		// The place is given back, and the key with it, to be taken for this answer.
		return WriteResult{}, s.RecordRefusal(ctx, merchantID, attempt, ErrPreconditionFailed)
	}
	return WriteResult{}, uploadFault(err)
}

// uploadFault returns ErrUploadFailed with the reason for the log. Of err only the
// text is kept: a failed upload is of this kind alone, whatever lay beneath
// (decision 5), and no caller may take it for, say, an invoice not found.
func uploadFault(err error) error { return fmt.Errorf("%w: %v", ErrUploadFailed, err) }

// reserve checks an upload against the order and takes a place and a name. It
// returns the order as it was and the invoice.
func (s *Service) reserve(ctx context.Context, merchantID int64, key Identifier, filename string, content Content, attempt WriteOptions) (WriteResult, error) {
	var reserved WriteResult
	var refusal error
	err := s.store.InTx(ctx, func(tx Tx) error {
		if attempt.IdempotencyKey != "" {
			if err := tx.ReserveIdempotencyKey(ctx, merchantID, attempt.IdempotencyKey, attempt.RequestDigest, s.Now()); err != nil {
				return err
			}
		}
		reserved, refusal = s.takePlace(ctx, tx, merchantID, key, filename, content, attempt)
		switch {
		case attempt.IdempotencyKey == "":
			return refusal
		case refusal != nil:
			return attempt.keep(ctx, tx, merchantID, WriteResult{}, refusal)
		}
		return tx.HoldIdempotencyKey(ctx, reserved.LockedOrder, attempt.IdempotencyKey, reserved.Invoice.ID)
	})
	if err == nil {
		err = refusal
	}
	if err != nil && isFault(err) {
		err = uploadFault(err)
	}
	return reserved, err
}

// takePlace is what reserve does in its transaction.
func (s *Service) takePlace(ctx context.Context, tx Tx, merchantID int64, key Identifier, filename string, content Content, attempt WriteOptions) (WriteResult, error) {
	head, err := attempt.lock(ctx, tx, merchantID, key)
	if err != nil {
		return WriteResult{}, err
	}
	name := StoredName(filename)
	if _, allowed := ContentType(name); !allowed {
		return WriteResult{}, ErrUnsupportedFileType
	}
	if content.Size > MaxInvoiceSize {
		return WriteResult{}, ErrFileTooBig
	}
	if head.ActiveInvoices >= MaxInvoices {
		return WriteResult{}, ErrTooManyFiles
	}
	used, err := tx.InvoiceNames(ctx, head)
	if err != nil {
		return WriteResult{}, err
	}
	invoice := Invoice{
		Name: FreeName(name, used), Size: content.Size, SHA256: content.SHA256, CreatedAt: s.Now(),
	}
	invoice.ID, err = tx.ReserveInvoice(ctx, head, invoice)
	return WriteResult{LockedOrder: head, Invoice: invoice}, err
}

// isFault reports whether err is none of the refusals of an upload.
func isFault(err error) bool {
	var repeated *ReplayError
	if errors.As(err, &repeated) {
		return false
	}
	for _, refusal := range []error{
		ErrNotFound, ErrPreconditionFailed, ErrUnsupportedFileType, ErrFileTooBig, ErrTooManyFiles, ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse,
	} {
		if errors.Is(err, refusal) {
			return false
		}
	}
	return true
}

// activate makes a reserved invoice visible and tells of it. After ErrPreconditionFailed,
// as after other errors, the reservation is still there. What it returns is
// right also where an error hides that it was committed.
func (s *Service) activate(ctx context.Context, reserved WriteResult, attempt WriteOptions) (WriteResult, error) {
	done := reserved
	err := s.store.InTx(ctx, func(tx Tx) error {
		// Asked once more: a file that came in meanwhile has changed the order too.
		locked, err := attempt.lock(ctx, tx, reserved.MerchantID, ByLegacyID(reserved.LegacyID))
		if err != nil {
			return err
		}
		if err := tx.ActivateInvoice(ctx, locked, reserved.Invoice.ID); err != nil {
			return err
		}
		done.LockedOrder = locked
		done.Revision++
		if attempt.IdempotencyKey != "" {
			if err := attempt.keep(ctx, tx, reserved.MerchantID, done, nil); err != nil {
				return err
			}
		}
		return tx.Append(ctx, locked, Event{
			Type: InvoiceUploaded, Actor: ActorMerchant, At: reserved.Invoice.CreatedAt, InvoiceID: reserved.Invoice.ID,
		})
	})
	return done, err
}

// activated finds out whether an invoice is active after activate returned an
// error, since a commit may have gone through although its answer was lost. If
// not, the reservation is taken back; where that fails, by the sweeper later.
func (s *Service) activated(ctx context.Context, head LockedOrder, invoice Invoice) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CommitTimeout)
	defer cancel()
	abandoned, err := s.abandon(ctx, stored(head, invoice))
	if err != nil {
		s.log.WarnContext(ctx, "reservation left to the sweeper", "invoice", invoice.ID, "error", err)
		return false
	}
	return !abandoned
}

// takeBack gives back what the reservation of a failed upload has taken: its
// place and, where it is certain that nothing was stored, its name. Of what may
// have been stored the sweeper removes the file, as it does all of this where
// the store cannot now. The client need not wait for it.
func (s *Service) takeBack(ctx context.Context, head LockedOrder, invoice Invoice, certain bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CommitTimeout)
	defer cancel()
	var err error
	if certain {
		err = s.store.InTx(ctx, func(tx Tx) error {
			locked, err := tx.LockOrder(ctx, head.MerchantID, ByLegacyID(head.LegacyID))
			if err != nil {
				return err
			}
			return tx.ReleaseInvoice(ctx, locked, invoice.ID)
		})
	} else {
		_, err = s.store.ExpireReservation(ctx, stored(head, invoice), s.Now())
	}
	if err != nil {
		s.log.WarnContext(ctx, "reservation left to the sweeper", "invoice", invoice.ID, "error", err)
	}
}

// DeleteInvoice withdraws an invoice file: its entry is marked, its bytes are
// kept until the operator purges them. It returns the order and what is left.
// Errors, beside those of the attempt's key: ErrInvoiceNotFound, ErrPreconditionFailed.
func (s *Service) DeleteInvoice(ctx context.Context, merchantID int64, key Identifier, id int64, attempt WriteOptions) (WriteResult, error) {
	if !key.Valid() || id <= 0 {
		return WriteResult{}, s.RecordRefusal(ctx, merchantID, attempt, ErrInvoiceNotFound)
	}
	return s.change(ctx, merchantID, attempt, func(tx Tx) (WriteResult, error) {
		head, err := attempt.lock(ctx, tx, merchantID, key)
		if errors.Is(err, ErrNotFound) {
			return WriteResult{}, ErrInvoiceNotFound
		}
		if err != nil {
			return WriteResult{}, err
		}
		at := s.Now()
		if err := tx.DeleteInvoice(ctx, head, id, at); err != nil {
			return WriteResult{}, err
		}
		left, err := tx.Invoices(ctx, head)
		if err != nil {
			return WriteResult{}, err
		}
		done := WriteResult{LockedOrder: head, Invoices: left}
		done.Revision++
		return done, tx.Append(ctx, head, Event{Type: InvoiceDeleted, Actor: ActorMerchant, At: at, InvoiceID: id})
	})
}

// OpenInvoice opens the file of an active invoice by its stored name, or
// returns ErrInvoiceNotFound. The caller closes it.
func (s *Service) OpenInvoice(ctx context.Context, merchantID int64, reference, name string) (Invoice, File, error) {
	if !ValidReference(reference) || StoredName(name) != name || name == "" {
		return Invoice{}, nil, ErrInvoiceNotFound
	}
	invoice, err := s.store.InvoiceFile(ctx, merchantID, reference, name)
	if err != nil {
		return Invoice{}, nil, err
	}
	file, err := s.files.Open(ctx, InvoicePath(reference, name))
	if errors.Is(err, fs.ErrNotExist) {
		return Invoice{}, nil, fmt.Errorf("active invoice %d has no file: %w", invoice.ID, err)
	}
	if err != nil {
		return Invoice{}, nil, errors.Join(ErrUnavailable, err)
	}
	return invoice, file, nil
}

// ExpireReservations takes back the places that were reserved before a moment and never
// activated, with whatever was stored for them. It returns how many.
func (s *Service) ExpireReservations(ctx context.Context, before time.Time) (int, error) {
	return s.eachStored(ctx,
		func() ([]StoredInvoice, error) { return s.store.ExpiredReservations(ctx, before, sweepBatch) },
		func(invoice StoredInvoice) error {
			_, err := s.abandon(ctx, invoice)
			return err
		})
}

// abandon takes one reservation back. The entry goes first: should its upload
// still be running it can no longer be activated, and its name is never given
// to another file, so that removing the file can hit no other. It reports
// whether the entry is abandoned now.
func (s *Service) abandon(ctx context.Context, invoice StoredInvoice) (bool, error) {
	abandoned, err := s.store.ExpireReservation(ctx, invoice, s.Now())
	if err != nil || !abandoned {
		return false, err
	}
	return true, s.purge(ctx, invoice)
}

// purge removes the file of an entry that is no longer active.
func (s *Service) purge(ctx context.Context, invoice StoredInvoice) error {
	if err := s.files.Remove(ctx, InvoicePath(invoice.Reference, invoice.Name)); err != nil {
		return err
	}
	return s.store.MarkPurged(ctx, invoice, s.Now())
}

// stored names an invoice of an order.
func stored(head LockedOrder, invoice Invoice) StoredInvoice {
	return StoredInvoice{
		MerchantID: head.MerchantID, OrderLegacyID: head.LegacyID, Reference: head.Reference,
		ID: invoice.ID, Name: invoice.Name,
	}
}

// PurgeDeletedFiles removes the files of invoices deleted before a moment. Their entries
// stay, so that their names are never used again. It returns how many.
func (s *Service) PurgeDeletedFiles(ctx context.Context, before time.Time) (int, error) {
	return s.eachStored(ctx,
		func() ([]StoredInvoice, error) { return s.store.DeletedInvoices(ctx, before, sweepBatch) },
		func(invoice StoredInvoice) error { return s.purge(ctx, invoice) })
}

// eachStored works through batches until none is left. An entry that fails does
// not keep the others of its batch; after such a batch it stops, since the entry
// would come again.
func (s *Service) eachStored(ctx context.Context, next func() ([]StoredInvoice, error), do func(StoredInvoice) error) (int, error) {
	done := 0
	for {
		batch, err := next()
		if err != nil || len(batch) == 0 {
			return done, err
		}
		var failed error
		for _, invoice := range batch {
			if err := ctx.Err(); err != nil {
				return done, err
			}
			if err := do(invoice); err != nil {
				failed = errors.Join(failed, fmt.Errorf("invoice %d: %w", invoice.ID, err))
				continue
			}
			done++
		}
		if failed != nil {
			return done, failed
		}
	}
}

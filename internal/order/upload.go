package order

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"
)

const (
	// CommitTimeout limits the time between the reservation of an upload and its
	// activation.
	CommitTimeout = 30 * time.Second
	// ReservationTimeout is the age at which a reservation expires if nobody can
	// know whether its upload is still running. It is well above CommitTimeout.
	ReservationTimeout = 2 * CommitTimeout
	// maxUnknownFiles is how many names of an upload may be those of files that no entry
	// knows.
	maxUnknownFiles = MaxInvoicesEver
)

// StageFunc creates a staged file. Service.StageFile is one.
type StageFunc func(ctx context.Context) (StagedFile, error)

// Content is the decoded content of an upload in a staged file.
type Content struct {
	Staged StagedFile
	Size   int64 // bytes received, including those beyond MaxInvoiceSize
	SHA256 [32]byte
	InvoiceData
}

// StageFile creates a staged file for the content of an upload. The caller
// aborts it when done, whether or not it was committed.
func (s *Service) StageFile(ctx context.Context) (StagedFile, error) {
	staged, err := s.files.Stage(ctx)
	if err != nil {
		return nil, uploadError(err)
	}
	return staged, nil
}

// StageContent copies the content of an upload to a staged file, which the caller aborts. Of
// content above MaxInvoiceSize, Size is right, but the staged file and the digest end at that
// size. An error of the reader is ErrContentUnread; after an error no staged file remains.
func StageContent(ctx context.Context, stage StageFunc, content io.Reader) (Content, error) {
	staged, err := stage(ctx)
	if err != nil {
		return Content{}, err
	}
	source, digest := &contentReader{r: content}, sha256.New()
	into := bufio.NewWriterSize(io.MultiWriter(staged, digest), 64<<10)
	size, err := io.Copy(into, io.LimitReader(source, MaxInvoiceSize))
	if err = cmp.Or(err, into.Flush()); err == nil {
		var over int64
		over, err = io.Copy(io.Discard, source)
		size += over
	}
	if err != nil {
		staged.Abort()
		return Content{}, fmt.Errorf("stage the content of an upload: %w", cmp.Or(source.err, err))
	}
	return Content{Staged: staged, Size: size, SHA256: [sha256.Size]byte(digest.Sum(nil))}, nil
}

// contentReader remembers the error of a reader, to tell it from one of the staged file.
type contentReader struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (c *contentReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = fmt.Errorf("%w: %w", ErrContentUnread, err)
	}
	return n, err
}

// Upload stores an invoice file for an order of the caller's merchant. When it returns
// nil the file and its entry are durable. Errors, in addition to those of the idempotency
// key, in the order in which they are checked: ErrNotFound, ErrPreconditionFailed,
// ErrUnsupportedFileType, ErrEmptyFile, ErrFileTooBig, ErrTooManyFiles, ErrUploadFailed.
//
// An upload has three steps: reserve (a transaction), store (commit the staged
// file), activate (a transaction). No transaction is open while the file is
// written. A crash in between leaves a reservation that nobody sees and that
// expires. The idempotency key is in use as long as the reservation exists; its
// response is recorded at the activation.
func (s *Service) Upload(ctx context.Context, caller Caller, id Identifier, filename string, content Content, options Options[WriteResult]) (WriteResult, error) {
	reserved, err := s.reserve(ctx, caller, id, filename, nil, content, options)
	if err != nil {
		return WriteResult{}, err
	}
	// A client that disconnects now must not leave the upload half done.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CommitTimeout)
	defer cancel()
	// The storage can have a file that no entry knows: a failover or a restore lost the
	// entry, and the file stays as it is.
	for unknown := []string(nil); ; {
		err := content.Staged.Commit(ctx, InvoicePath(reserved.Reference, reserved.Invoice.Name))
		if err == nil {
			break
		}
		s.cancelReservation(ctx, caller, reserved, !errors.Is(err, ErrOutcomeUnknown))
		if unknown = append(unknown, reserved.Invoice.Name); !errors.Is(err, fs.ErrExist) || len(unknown) > maxUnknownFiles {
			return WriteResult{}, uploadError(err)
		}
		if reserved, err = s.reserve(ctx, caller, id, filename, unknown, content, options); err != nil {
			return WriteResult{}, err
		}
	}
	result, err := s.activate(ctx, caller, reserved, options)
	if err == nil || s.activated(ctx, caller, reserved) {
		return result, nil
	}
	if errors.Is(err, ErrPreconditionFailed) {
		// The reservation has expired, which freed the key: record the refusal.
		return s.write(ctx, caller, caller.MerchantID, id, options, func(Tx, LockedOrder) (WriteResult, error) {
			return WriteResult{}, ErrPreconditionFailed
		})
	}
	return WriteResult{}, uploadError(err)
}

// uploadError returns ErrUploadFailed with the text of err for the log. It does
// not wrap err: a failed upload is ErrUploadFailed and nothing else (decision
// 5), so that no caller takes it for, say, ErrInvoiceNotFound.
func uploadError(err error) error { return fmt.Errorf("%w: %v", ErrUploadFailed, err) }

// reserve checks an upload against the order and reserves a slot and a name, none of those
// taken. It returns the order as it is and the invoice.
func (s *Service) reserve(ctx context.Context, caller Caller, id Identifier, filename string, taken []string, content Content, options Options[WriteResult]) (WriteResult, error) {
	options.held = true
	reserved, err := s.write(ctx, caller, caller.MerchantID, id, options, func(tx Tx, locked LockedOrder) (WriteResult, error) {
		name := StoredName(filename)
		if _, supported := ContentType(name); !supported {
			return WriteResult{}, ErrUnsupportedFileType
		}
		if content.Size == 0 {
			return WriteResult{}, ErrEmptyFile
		}
		if content.Size > MaxInvoiceSize {
			return WriteResult{}, ErrFileTooBig
		}
		if locked.ActiveInvoices >= MaxInvoices {
			return WriteResult{}, s.refuseFull(ctx, tx, locked, options)
		}
		name, err := FreeName(name, func(name string) (bool, error) {
			if slices.Contains(taken, name) {
				return true, nil
			}
			return tx.InvoiceNameUsed(ctx, locked, name)
		})
		if err != nil {
			return WriteResult{}, err
		}
		invoice := Invoice{Name: name, Size: content.Size, SHA256: content.SHA256, CreatedAt: s.Now(), InvoiceData: content.InvoiceData}
		invoice.ID, err = tx.ReserveInvoice(ctx, locked, invoice)
		if err == nil && options.Key.Text != "" {
			err = tx.HoldIdempotencyKey(ctx, locked, options.Key, invoice.ID)
		}
		return WriteResult{LockedOrder: locked, Invoice: invoice}, err
	})
	if err != nil && !isUploadRefusal(err) {
		err = uploadError(err)
	}
	return reserved, err
}

// refuseFull returns why an order without a free slot refuses an upload. If some
// slots are only reserved, an upload with If-Match is refused as if one of these
// reservations were active already: the order would have changed.
func (s *Service) refuseFull(ctx context.Context, tx Tx, locked LockedOrder, options Options[WriteResult]) error {
	if options.IfMatch == nil {
		return ErrTooManyFiles
	}
	active, err := tx.Invoices(ctx, locked)
	switch {
	case err != nil:
		return err
	case len(active) < MaxInvoices:
		return ErrPreconditionFailed
	}
	return ErrTooManyFiles
}

// uploadRefusals are the errors that refuse an upload. Any other error is a
// failure of the service.
var uploadRefusals = []error{
	ErrNotFound, ErrPreconditionFailed, ErrUnsupportedFileType, ErrEmptyFile, ErrFileTooBig, ErrTooManyFiles,
	ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse, ErrTooManyIdempotencyKeys,
}

func isUploadRefusal(err error) bool {
	var replay *ReplayError
	return errors.As(err, &replay) ||
		slices.ContainsFunc(uploadRefusals, func(refusal error) bool { return errors.Is(err, refusal) })
}

// activate makes a reserved invoice visible. After an error, including
// ErrPreconditionFailed, the reservation still exists. The result is also right
// if the error hides a commit that succeeded.
func (s *Service) activate(ctx context.Context, caller Caller, reserved WriteResult, options Options[WriteResult]) (WriteResult, error) {
	result := reserved
	_, err := Change(ctx, s.changes, caller, Options[WriteResult]{}, func(tx Tx) (WriteResult, error) {
		// If-Match is checked again: another upload may have changed the order
		// since the reservation.
		locked, err := options.lock(ctx, tx, reserved.MerchantID, ByLegacyID(reserved.LegacyID))
		if err != nil {
			return WriteResult{}, err
		}
		result.LockedOrder = locked
		result.Revision = locked.NextRevision
		// The reservation holds the key.
		if err := record(ctx, tx, caller, options, outcome[WriteResult]{result: result}); err != nil {
			return WriteResult{}, err
		}
		cause := Cause{By: caller, At: reserved.Invoice.CreatedAt}
		return result, tx.ActivateInvoice(ctx, locked, reserved.Invoice, cause)
	})
	return result, err
}

// activated finds out whether an invoice is active after activate returned an
// error: the commit may have succeeded. If it is not, activated expires the
// reservation; if that fails the janitor does it later.
func (s *Service) activated(ctx context.Context, caller Caller, reserved WriteResult) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CommitTimeout)
	defer cancel()
	expired, err := s.expire(ctx, reserved.storedInvoice())
	if err != nil {
		s.logReservation(ctx, caller, reserved, err)
		return false
	}
	return !expired
}

// cancelReservation frees what a failed upload has reserved: its slot and, if
// certainly nothing was stored, its name. Otherwise the janitor removes the
// file, as it does everything that fails here. The client need not wait for it.
func (s *Service) cancelReservation(ctx context.Context, caller Caller, reserved WriteResult, nothingStored bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CommitTimeout)
	defer cancel()
	var err error
	if nothingStored {
		_, err = Change(ctx, s.changes, caller, Options[LockedOrder]{}, func(tx Tx) (LockedOrder, error) {
			locked, err := tx.LockOrder(ctx, reserved.MerchantID, ByLegacyID(reserved.LegacyID))
			if err != nil {
				return LockedOrder{}, err
			}
			return locked, tx.ReleaseInvoice(ctx, locked, reserved.Invoice.ID)
		})
	} else {
		_, err = s.store.ExpireReservation(ctx, reserved.storedInvoice(), s.Now())
	}
	if err != nil {
		s.logReservation(ctx, caller, reserved, err)
	}
}

// logReservation reports a reservation that the janitor has to expire.
func (s *Service) logReservation(ctx context.Context, caller Caller, reserved WriteResult, err error) {
	s.log.WarnContext(ctx, "reservation could not be ended; it expires later",
		"order", reserved.Reference, "invoice", reserved.Invoice.ID,
		"token", caller.TokenID, "request", caller.RequestID, "error", err)
}

// storedInvoice identifies the invoice of an upload.
func (r WriteResult) storedInvoice() StoredInvoice {
	return StoredInvoice{
		MerchantID: r.MerchantID, OrderLegacyID: r.LegacyID, Reference: r.Reference,
		ID: r.Invoice.ID, Name: r.Invoice.Name,
	}
}

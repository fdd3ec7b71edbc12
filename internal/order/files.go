package order

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// Files stores the bytes of invoice files under the paths of InvoicePath.
type Files interface {
	// Stage creates a file that is not visible under any path yet.
	Stage(ctx context.Context) (StagedFile, error)
	// Open returns a stored file. The error is fs.ErrNotExist if there is none.
	Open(ctx context.Context, path string) (File, error)
	// Remove deletes a stored file. It does nothing if there is none.
	Remove(ctx context.Context, path string) error
	// Check returns an error if files cannot be stored now.
	Check(ctx context.Context) error
}

// StagedFile is a file being uploaded, not yet visible.
type StagedFile interface {
	io.Writer
	// Content returns a reader of the bytes written so far.
	Content() (*io.SectionReader, error)
	// Commit makes the bytes written so far durable under a path: when it
	// returns nil they survive a power cut. After an error nothing is stored,
	// except for ErrOutcomeUnknown: then the file may exist, now or later. After
	// fs.ErrExist, for the path of a stored file, another path may follow.
	Commit(ctx context.Context, path string) error
	// Abort removes what was not committed. It is safe to call at any time.
	Abort()
}

// File is a stored file open for reading.
type File interface {
	io.ReadSeekCloser
}

// DeleteInvoice soft-deletes an invoice file of the caller's merchant: its entry is
// marked, its bytes are stored until they are purged. It returns the order and the
// remaining files. Errors, in addition to those of the idempotency key:
// ErrInvoiceNotFound, ErrPreconditionFailed.
func (s *Service) DeleteInvoice(ctx context.Context, caller Caller, id Identifier, invoiceID int64, options Options[WriteResult]) (WriteResult, error) {
	result, err := s.write(ctx, caller, caller.MerchantID, id, options, func(tx Tx, locked LockedOrder) (WriteResult, error) {
		remaining, err := tx.Invoices(ctx, locked)
		if err != nil {
			return WriteResult{}, err
		}
		i := slices.IndexFunc(remaining, func(invoice Invoice) bool { return invoice.ID == invoiceID })
		if i < 0 {
			return WriteResult{}, ErrInvoiceNotFound
		}
		err = tx.DeleteInvoice(ctx, locked, invoiceID, Cause{By: caller, At: s.Now()})
		locked.Revision = locked.NextRevision
		return WriteResult{LockedOrder: locked, Invoices: slices.Delete(remaining, i, i+1)}, err
	})
	if errors.Is(err, ErrNotFound) {
		err = ErrInvoiceNotFound
	}
	return result, err
}

// OpenInvoice opens the file of an active invoice by its stored name and verifies
// its content. It returns ErrInvoiceNotFound or ErrInvoiceDamaged. The caller
// closes the file.
func (s *Service) OpenInvoice(ctx context.Context, merchantID int64, reference, name string) (Invoice, File, error) {
	if !ValidReference(reference) || StoredName(name) != name || name == "" {
		return Invoice{}, nil, ErrInvoiceNotFound
	}
	invoice, err := s.store.InvoiceFile(ctx, merchantID, reference, name)
	if err != nil {
		return Invoice{}, nil, err
	}
	return s.open(ctx, reference, invoice)
}

// open opens the file of an invoice of the order with a reference and verifies its
// content. It returns ErrInvoiceDamaged.
func (s *Service) open(ctx context.Context, reference string, invoice Invoice) (Invoice, File, error) {
	file, err := s.files.Open(ctx, InvoicePath(reference, invoice.Name))
	if err == nil {
		if err = invoice.verify(file); err == nil {
			return invoice, file, nil
		}
		err = errors.Join(err, file.Close())
	}
	switch {
	case errors.Is(err, ErrInvoiceDamaged):
		err = fmt.Errorf("invoice %d of order %s is %w", invoice.ID, reference, err)
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("invoice %d of order %s is %w: it has no file: %w", invoice.ID, reference, ErrInvoiceDamaged, err)
	default:
		err = fmt.Errorf("the file storage is %w: %w", ErrUnavailable, err)
	}
	return Invoice{}, nil, err
}

// verify reads a file and returns ErrInvoiceDamaged if its content is not that of
// the invoice. It leaves the file at its start. A file that was read while it is
// sent could only be cut off when the damage is found; MaxInvoiceSize bounds what
// the first reading costs.
func (i Invoice) verify(file File) error {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size != i.Size {
		return fmt.Errorf("%w: its file has %d bytes instead of %d", ErrInvoiceDamaged, size, i.Size)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return err
	}
	if [sha256.Size]byte(hash.Sum(nil)) != i.SHA256 {
		return fmt.Errorf("%w: its file has other content (SHA-256)", ErrInvoiceDamaged)
	}
	_, err = file.Seek(0, io.SeekStart)
	return err
}

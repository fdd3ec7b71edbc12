package order

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// DeleteInvoice soft-deletes an invoice file: its entry is marked, its bytes are
// stored until they are purged. It returns the order and the remaining files.
// Errors, in addition to those of the idempotency key: ErrInvoiceNotFound,
// ErrPreconditionFailed.
func (s *Service) DeleteInvoice(ctx context.Context, merchantID int64, id Identifier, invoiceID int64, options WriteOptions) (WriteResult, error) {
	if !id.Valid() || invoiceID <= 0 {
		return WriteResult{}, s.RecordRefusal(ctx, merchantID, options, ErrInvoiceNotFound)
	}
	return s.write(ctx, merchantID, options, func(tx Tx) (WriteResult, error) {
		locked, err := options.lock(ctx, tx, merchantID, id)
		if errors.Is(err, ErrNotFound) {
			return WriteResult{}, ErrInvoiceNotFound
		}
		if err != nil {
			return WriteResult{}, err
		}
		if err := tx.DeleteInvoice(ctx, locked, invoiceID, Cause{Actor: ActorMerchant, At: s.Now()}); err != nil {
			return WriteResult{}, err
		}
		remaining, err := tx.Invoices(ctx, locked)
		locked.Revision++
		return WriteResult{LockedOrder: locked, Invoices: remaining}, err
	})
}

// OpenInvoice opens the file of an active invoice by its stored name, or returns
// ErrInvoiceNotFound. The caller closes it.
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
		return Invoice{}, nil, fmt.Errorf("active invoice %d of order %s has no file: %w", invoice.ID, reference, err)
	}
	if err != nil {
		return Invoice{}, nil, errors.Join(ErrUnavailable, err)
	}
	return invoice, file, nil
}

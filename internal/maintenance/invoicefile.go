package maintenance

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/sqldb"
)

const (
	// MaxParallelFiles is how many files are read or copied in parallel: enough
	// to hide the latency of a remote storage.
	MaxParallelFiles = 8
	// invoiceFilePage is how many entries one statement reads.
	invoiceFilePage = 500
)

// InvoiceFile is an invoice entry whose file must be in the storage.
type InvoiceFile struct {
	order.StoredInvoice
	Size   int64 // bytes
	SHA256 [32]byte
	// Active is true if the file is shown. Otherwise it is soft-deleted and waits
	// for the purge. An interrupted purge may have removed it already.
	Active bool
}

// Path returns the path of the file in the storage.
func (f InvoiceFile) Path() string { return order.InvoicePath(f.Reference, f.Name) }

// WrongContent is the problem of a file whose content was changed.
const WrongContent = "does not have the content that its entry says (SHA-256)"

// Finding returns a finding about the file. The problem begins with its path.
func (f InvoiceFile) Finding(problem, cure string) Finding {
	return Finding{
		MerchantID: f.MerchantID, OrderLegacyID: f.OrderLegacyID, OrderReference: f.Reference, InvoiceID: f.ID,
		Problem: f.Path() + " " + problem, Cure: cure,
	}
}

const (
	// hasFile is true for an entry i whose file must be in the storage.
	hasFile = `(i.status = ` + store.InvoiceActive + ` OR i.status = ` + store.InvoiceDeleted + ` AND i.purged_at IS NULL)`

	selectInvoiceFiles = `SELECT i.merchant_id, i.legacy_id, o.reference, i.id, i.name, i.size, i.sha256,
		i.status = ` + store.InvoiceActive + `
	FROM invoices i
	JOIN orders o ON o.merchant_id = i.merchant_id AND o.legacy_id = i.legacy_id
	WHERE i.merchant_id = $1 AND `
	selectInvoiceFilePage = selectInvoiceFiles + `(i.legacy_id, i.id) > ($2, $3) AND ` + hasFile + `
	ORDER BY i.legacy_id, i.id LIMIT $4+0`
	selectInvoiceFile = selectInvoiceFiles + `i.legacy_id = $2 AND i.id = $3 AND ` + hasFile
)

func scanInvoiceFile(scan func(...any) error) (InvoiceFile, error) {
	var f InvoiceFile
	err := scan(&f.MerchantID, &f.OrderLegacyID, &f.Reference, &f.ID, &f.Name, &f.Size, &f.SHA256, &f.Active)
	return f, err
}

// EachInvoiceFile calls fn for every invoice file of the database, in parallel,
// and reports the progress as a stage.
func EachInvoiceFile(
	ctx context.Context, q sqldb.Querier, reporter *Reporter, stage string, fn func(context.Context, InvoiceFile) error,
) error {
	var total int64
	q = q.WithoutTimeout()
	if err := q.QueryRow(ctx, `SELECT COUNT(*) FROM invoices i WHERE `+hasFile, nil, &total); err != nil {
		return fmt.Errorf("count invoices: %w", err)
	}
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(MaxParallelFiles)
	readErr := readInvoiceFiles(ctx, q, func(file InvoiceFile) {
		workers.Go(func() error {
			err := fn(ctx, file)
			reporter.Advance(stage, 1, total)
			return err
		})
	})
	// If a worker fails, readErr only says that the context is canceled.
	return cmp.Or(workers.Wait(), readErr)
}

// readInvoiceFiles calls fn for every invoice file, page by page.
func readInvoiceFiles(ctx context.Context, q sqldb.Querier, fn func(InvoiceFile)) error {
	merchants, err := PerMerchant(ctx, q, LastEvents)
	if err != nil {
		return err
	}
	for _, merchant := range slices.Sorted(maps.Keys(merchants)) {
		for last, more := (InvoiceFile{}), true; more; {
			page, err := sqldb.All(ctx, q, selectInvoiceFilePage, []any{merchant, last.OrderLegacyID, last.ID, invoiceFilePage},
				func(rows sqldb.Rows) (InvoiceFile, error) { return scanInvoiceFile(rows.Scan) })
			if err != nil {
				return fmt.Errorf("read invoices of merchant %d: %w", merchant, err)
			}
			for _, file := range page {
				fn(file)
				last = file
			}
			more = len(page) == invoiceFilePage
		}
	}
	return nil
}

// Reread reads the entry of the file again. found is false if the file need not
// be in the storage any more.
func (f InvoiceFile) Reread(ctx context.Context, db sqldb.DB) (current InvoiceFile, found bool, err error) {
	current, err = scanInvoiceFile(func(dest ...any) error {
		return db.QueryRow(ctx, selectInvoiceFile, []any{f.MerchantID, f.OrderLegacyID, f.ID}, dest...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return InvoiceFile{}, false, nil
	}
	if err != nil {
		return InvoiceFile{}, false, fmt.Errorf("read invoice %d: %w", f.ID, err)
	}
	return current, true, nil
}

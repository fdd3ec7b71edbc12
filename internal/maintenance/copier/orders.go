package copier

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"strconv"

	"golang.org/x/sync/errgroup"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/sqldb"
)

// orderPage is how many orders are copied at a time.
const orderPage = 200

const (
	selectLegacyIDs  = `SELECT legacy_id FROM orders WHERE merchant_id = $1 ORDER BY legacy_id`
	selectChangedIDs = `SELECT DISTINCT legacy_id FROM events WHERE merchant_id = $1 AND seq > $2`
	whereLegacyIDs   = `merchant_id = $1 AND legacy_id IN ` // and a list
)

// orderSet is some orders of a merchant with all their invoices and keys.
type orderSet struct{ orders, invoices, keys rowSet }

// readOrders reads up to orderPage orders of a merchant.
func readOrders(ctx context.Context, q sqldb.Querier, merchantID int64, legacyIDs []int64) (set orderSet, err error) {
	args := []any{merchantID}
	for i := range orderPage {
		// The last id fills up, so that there is one statement for any number.
		args = append(args, legacyIDs[min(i, len(legacyIDs)-1)])
	}
	where := whereLegacyIDs + `(` + sqldb.Params(2, orderPage) + `)`
	if set.orders, err = readRows(ctx, q, ordersTable, where, args...); err != nil {
		return orderSet{}, err
	}
	if set.invoices, err = readRows(ctx, q, invoicesTable, where, args...); err != nil {
		return orderSet{}, err
	}
	set.keys, err = readKeys(ctx, q, ordersTable, set.orders.rows)
	return set, err
}

// readKeys reads the keys of up to orderPage orders, which are rows of a table.
func readKeys(ctx context.Context, q sqldb.Querier, t *table, orders [][]any) (rowSet, error) {
	var keys []any
	for _, row := range orders {
		keys = append(keys, t.text(row, "reference"), store.LegacyIDKey(t.int(row, "legacy_id")))
	}
	for len(keys) < 2*orderPage {
		keys = append(keys, "") // no key; fills up
	}
	return readRows(ctx, q, orderKeysTable, `key IN (`+sqldb.Params(1, len(keys))+`)`, keys...)
}

// invoiceFiles returns the invoices whose files must be in the storage.
func (s orderSet) invoiceFiles() []maintenance.InvoiceFile {
	references := make(map[int64]string, len(s.orders.rows))
	for _, row := range s.orders.rows {
		references[ordersTable.int(row, "legacy_id")] = ordersTable.text(row, "reference")
	}
	var files []maintenance.InvoiceFile
	for _, row := range s.invoices.rows {
		status, purgedAt := strconv.FormatInt(invoicesTable.int(row, "status"), 10), invoicesTable.column(row, "purged_at")
		if status != store.InvoiceActive && (status != store.InvoiceDeleted || purgedAt != nil) {
			continue
		}
		legacyID := invoicesTable.int(row, "legacy_id")
		file := maintenance.InvoiceFile{
			StoredInvoice: order.StoredInvoice{
				MerchantID: invoicesTable.int(row, "merchant_id"), OrderLegacyID: legacyID, Reference: references[legacyID],
				ID: invoicesTable.int(row, "id"), Name: invoicesTable.text(row, "name"),
			},
			Size: invoicesTable.int(row, "size"), Active: status == store.InvoiceActive,
		}
		copy(file.SHA256[:], invoicesTable.column(row, "sha256").([]byte))
		files = append(files, file)
	}
	return files
}

// applyOrders copies orders. Their files come first, so that the target never
// has an entry without its file.
func (j *job) applyOrders(ctx context.Context, set orderSet) error {
	if j.target.Files != nil {
		workers, ctx := errgroup.WithContext(ctx)
		workers.SetLimit(maintenance.MaxParallelFiles)
		for _, file := range set.invoiceFiles() {
			workers.Go(func() error { return j.copyFile(ctx, file) })
		}
		if err := workers.Wait(); err != nil {
			return err
		}
	}
	return j.apply(ctx, set.orders, set.invoices, set.keys)
}

// copyFile copies a file unless the target has it. The verification of the target
// finds a file that is missing or damaged.
func (j *job) copyFile(ctx context.Context, file maintenance.InvoiceFile) error {
	existing, err := j.target.Files.Open(ctx, file.Path())
	if err == nil {
		return existing.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err = j.mendFile(ctx, file, true)
	return err
}

// mendFile copies a file that is missing or damaged in the target, and reports
// whether it has. It does nothing if the file is missing or damaged in the source
// too.
func (j *job) mendFile(ctx context.Context, file maintenance.InvoiceFile, missing bool) (bool, error) {
	content, err := j.source.Files.Open(ctx, file.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = content.Close() }()
	staged, err := j.target.Files.Stage(ctx)
	if err != nil {
		return false, err
	}
	defer staged.Abort()
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(staged, hash), content)
	if err != nil {
		return false, err
	}
	if size != file.Size || [sha256.Size]byte(hash.Sum(nil)) != file.SHA256 {
		return false, nil
	}
	copied := &j.filesCopied
	if !missing {
		copied = &j.filesMended
		if err := j.target.Files.Remove(ctx, file.Path()); err != nil {
			return false, err
		}
	}
	if err := staged.Commit(ctx, file.Path()); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	copied.Add(1)
	return true, nil
}

// removePurgedFiles removes files that an earlier copy wrote to the target and
// that were purged in the source since, also those whose names were erased. No purge of
// the target would find them.
func (j *job) removePurgedFiles(ctx context.Context) error {
	return j.verified().EachOrphan(ctx, func(orphan maintenance.Orphan) error {
		if !orphan.Removable {
			return nil
		}
		return j.target.Files.Remove(ctx, orphan.Path)
	})
}

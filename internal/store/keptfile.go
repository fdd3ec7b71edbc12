package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// KeptFile is an invoice entry whose file is kept.
type KeptFile struct {
	order.StoredInvoice
	Size   int64 // bytes
	SHA256 [32]byte
	// Active says that the file is shown. Otherwise it was withdrawn and waits
	// to be purged; a purge that was cut off may have removed it already.
	Active bool
}

// Path returns where the file lies in the storage.
func (f KeptFile) Path() string { return order.InvoicePath(f.Reference, f.Name) }

// kept is the condition of an entry i whose file is kept.
const kept = `(i.status = ` + statusActive + ` OR i.status = ` + statusDeleted + ` AND i.purged_at IS NULL)`

const (
	selectKept = `SELECT i.merchant_id, i.order_number, o.reference, i.id, i.name, i.size, i.sha256,
		CASE WHEN i.status = ` + statusActive + ` THEN 1 ELSE 0 END
	FROM invoices i
	JOIN orders o ON o.merchant_id = i.merchant_id AND o.number = i.order_number
	WHERE i.merchant_id = $1 AND `
	selectKeptPage = selectKept + `(i.order_number, i.id) > ($2, $3) AND ` + kept + `
	ORDER BY i.order_number, i.id LIMIT $4+0`
	selectKeptOne = selectKept + `i.order_number = $2 AND i.id = $3 AND ` + kept
)

func scanKept(scan func(...any) error) (KeptFile, error) {
	var f KeptFile
	var hash []byte
	var active int64
	err := scan(&f.MerchantID, &f.OrderLegacyID, &f.Reference, &f.ID, &f.Name, &f.Size, &hash, &active)
	copy(f.SHA256[:], hash)
	f.Active = active != 0
	return f, err
}

// KeptFiles returns up to limit of a merchant's entries whose files are kept,
// those after a given one. The zero KeptFile is before all.
func (db *DB) KeptFiles(ctx context.Context, merchantID int64, after KeptFile, limit int) ([]KeptFile, error) {
	defer db.timed("files")()
	found, err := sqldb.All(ctx, db.sql.WithoutTimeout(), selectKeptPage, []any{merchantID, after.OrderLegacyID, after.ID, limit},
		func(rows sqldb.Rows) (KeptFile, error) { return scanKept(rows.Scan) })
	if err != nil {
		return nil, db.wrap(fmt.Errorf("read invoices: %w", err))
	}
	return found, nil
}

// KeptFile returns an entry as it is now, and whether its file is still kept.
func (db *DB) KeptFile(ctx context.Context, f KeptFile) (KeptFile, bool, error) {
	defer db.timed("files")()
	now, err := scanKept(func(into ...any) error {
		return db.sql.QueryRow(ctx, selectKeptOne, []any{f.MerchantID, f.OrderLegacyID, f.ID}, into...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return KeptFile{}, false, nil
	}
	if err != nil {
		return KeptFile{}, false, db.wrap(fmt.Errorf("read invoice: %w", err))
	}
	return now, true, nil
}

// CountKeptFiles returns how many files there should be.
func (db *DB) CountKeptFiles(ctx context.Context) (int64, error) {
	defer db.timed("files")()
	var n int64
	err := db.sql.WithoutTimeout().QueryRow(ctx, `SELECT COUNT(*) FROM invoices i WHERE `+kept, nil, &n)
	if err != nil {
		return 0, db.wrap(fmt.Errorf("count invoices: %w", err))
	}
	return n, nil
}

// FileState is what the database says of a stored file.
type FileState int

// The states of a stored file.
const (
	UnknownFile FileState = iota // no entry speaks of it
	PurgedFile                   // its entry says that it was removed
	WantedFile                   // its entry needs it, or may: also one on its way
)

// FileState returns what the database says of the file of an order.
func (db *DB) FileState(ctx context.Context, reference, name string) (FileState, error) {
	defer db.timed("files")()
	var merchantID, wanted int64
	err := db.sql.QueryRow(ctx, `SELECT merchant_id FROM order_keys WHERE key = $1`, []any{reference}, &merchantID)
	if err == nil {
		err = db.sql.QueryRow(ctx, `SELECT CASE WHEN i.purged_at IS NULL THEN 1 ELSE 0 END
			FROM orders o
			JOIN invoices i ON i.merchant_id = o.merchant_id AND i.order_number = o.number
			WHERE o.merchant_id = $1 AND o.reference = $2 AND i.name = $3`,
			[]any{merchantID, reference, name}, &wanted)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return UnknownFile, nil
	case err != nil:
		return UnknownFile, db.wrap(fmt.Errorf("look for an invoice: %w", err))
	case wanted == 0:
		return PurgedFile, nil
	}
	return WantedFile, nil
}

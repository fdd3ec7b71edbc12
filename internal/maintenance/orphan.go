package maintenance

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Orphan is a stored file that no invoice entry needs.
type Orphan struct {
	Path      string
	Reference string // of the order in whose folder the file is; empty elsewhere
	Purged    bool   // the file has an entry, which says that it was purged
}

// EachOrphan calls fn for every orphan in the storage.
func (in Installation) EachOrphan(ctx context.Context, fn func(Orphan) error) error {
	return in.Files.Each(ctx, func(path string) error {
		reference, name, ok := splitInvoicePath(path)
		if !ok {
			return fn(Orphan{Path: path})
		}
		known, purged, err := findEntry(ctx, in.DB, reference, name)
		if err != nil || known && !purged {
			return err
		}
		// A purge may have removed the file since it was listed.
		file, err := in.Files.Open(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			_ = file.Close()
		}
		return fn(Orphan{Path: path, Reference: reference, Purged: purged})
	})
}

// findEntry reports whether a file of an order has an invoice entry, and
// whether the entry says that the file was purged. Reserved and expired entries
// count too: their files may be in the storage for a while.
func findEntry(ctx context.Context, db sqldb.DB, reference, name string) (known, purged bool, err error) {
	var merchantID int64
	err = db.QueryRow(ctx, `SELECT merchant_id FROM order_keys WHERE key = $1`, []any{reference}, &merchantID)
	if err == nil {
		err = db.QueryRow(ctx, `SELECT i.purged_at IS NOT NULL
			FROM orders o
			JOIN invoices i ON i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id
			WHERE o.merchant_id = $1 AND o.reference = $2 AND i.name = $3`,
			[]any{merchantID, reference, name}, &purged)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, false, nil
	case err != nil:
		return false, false, fmt.Errorf("find the invoice of a file of order %s: %w", reference, err)
	}
	return true, purged, nil
}

// splitInvoicePath splits the path of an invoice file. ok is false for any
// other path.
func splitInvoicePath(path string) (reference, name string, ok bool) {
	rest, found := strings.CutPrefix(path, "invoices/")
	if !found {
		return "", "", false
	}
	reference, name, _ = strings.Cut(rest, "/")
	ok = order.ValidReference(reference) && order.InvoicePath(reference, name) == path &&
		utf8.ValidString(name) && !strings.ContainsRune(name, 0)
	return reference, name, ok
}

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
	// Removable says that the order exists or was deleted after the retention time: a
	// file of another order may belong to another database. No upload can be about to commit a
	// removable file, since no file is ever replaced. A file that is found by another spelling of
	// its path too may be that of an entry.
	Removable bool
}

// String returns the path and what to do.
func (o Orphan) String() string {
	cure := "look whose file it is: no order of this database has that folder, no file of the storage is that of an invoice, or the storage does not tell upper from lower case"
	if o.Removable {
		cure = "check --repair removes it"
	}
	return o.Path + " belongs to no invoice; " + cure
}

// EachOrphan calls fn for every orphan in the storage.
func (in Installation) EachOrphan(ctx context.Context, fn func(Orphan) error) error {
	return in.Files.Each(ctx, func(path string) error {
		reference, name, ok := splitInvoicePath(path)
		if !ok {
			return fn(Orphan{Path: path})
		}
		entry, err := findEntry(ctx, in.DB, reference, name)
		if err != nil || entry.exists && !entry.purged {
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
		removable := entry.order
		for _, spelling := range []func(string) string{strings.ToUpper, strings.ToLower} {
			other := order.InvoicePath(spelling(reference), spelling(name))
			if !removable || other == path {
				continue
			}
			file, err := in.Files.Open(ctx, other)
			if err == nil {
				removable = false
				_ = file.Close()
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return fn(Orphan{Path: path, Reference: reference, Purged: entry.purged, Removable: removable})
	})
}

// entry is what the database knows of a file.
type entry struct {
	order          bool // the order exists, or did
	exists, purged bool
}

// findEntry looks for the invoice entry of a file of an order. Reserved and expired
// entries exist too: their files may be in the storage for a while.
func findEntry(ctx context.Context, db sqldb.DB, reference, name string) (entry, error) {
	var merchantID int64
	var e entry
	err := db.QueryRow(ctx, `SELECT merchant_id FROM order_keys WHERE key = $1`, []any{reference}, &merchantID)
	if err == nil {
		e.order = true
		err = db.QueryRow(ctx, `SELECT i.purged_at IS NOT NULL
			FROM orders o
			JOIN invoices i ON i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id
			WHERE o.merchant_id = $1 AND o.reference = $2 AND i.name = $3`,
			[]any{merchantID, reference, name}, &e.purged)
		e.exists = err == nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return entry{}, fmt.Errorf("find the invoice of a file of order %s: %w", reference, err)
	}
	return e, nil
}

// splitInvoicePath splits the path of an invoice file. ok is false for any
// other path.
func splitInvoicePath(path string) (reference, name string, ok bool) {
	rest, found := strings.CutPrefix(path, order.InvoiceFolder+"/")
	if !found {
		return "", "", false
	}
	reference, name, _ = strings.Cut(rest, "/")
	ok = order.ValidReference(reference) && order.InvoicePath(reference, name) == path &&
		utf8.ValidString(name) && !strings.ContainsRune(name, 0)
	return reference, name, ok
}

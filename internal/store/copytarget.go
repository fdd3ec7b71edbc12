package store

import (
	"context"
	"fmt"

	"merchantorders/internal/store/sqldb"
)

// Put makes parts of this database equal to those of a copy's source, in one
// transaction, and returns how many rows that took. What is equal is left alone.
// Rows that only an installation of its own can have are ErrForeign.
func (db *DB) Put(ctx context.Context, parts ...Part) (int, error) {
	var changes int
	err := db.inTxWithin(ctx, maintenanceTimeout, "copy", func(t *tx) error {
		t.Querier, changes = t.Querier.WithoutTimeout(), 0
		for _, p := range parts {
			n, err := t.put(ctx, p)
			if err != nil {
				return err
			}
			changes += n
		}
		return nil
	})
	return changes, err
}

// PutMerchant notes that a merchant of the source is being copied, where that is
// not noted yet: its row comes first, as if it had no events so far.
func (db *DB) PutMerchant(ctx context.Context, merchant Part) error {
	row := append([]any(nil), merchant.rows[0]...)
	row[merchantsTable.column("last_event")] = int64(0)
	return db.inTxWithin(ctx, maintenanceTimeout, "copy", func(t *tx) error {
		there, err := merchant.read(ctx, t)
		if err == nil && len(there) == 0 {
			_, err = t.Exec(ctx, merchantsTable.insertOne, row...)
		}
		return err
	})
}

// PutCounters makes the newest numbers equal to those of a copy's source.
func (db *DB) PutCounters(ctx context.Context, counters CopiedCounters) error {
	if _, err := db.Put(ctx, counters.Part); err != nil {
		return err
	}
	return db.inTxWithin(ctx, maintenanceTimeout, "copy", func(t *tx) error {
		_, err := t.Exec(ctx, db.dialect.SetInvoiceID, counters.lastInvoice)
		return err
	})
}

// DifferingOrders returns the numbers of the orders whose invoices differ from
// those of a part.
func (db *DB) DifferingOrders(ctx context.Context, invoices Part) ([]int64, error) {
	defer db.timed("copy")()
	rows, err := invoices.differing(ctx, db.sql.WithoutTimeout())
	if err != nil {
		return nil, db.wrap(err)
	}
	numbers := make([]int64, len(rows))
	for i, row := range rows {
		numbers[i] = row[1].(int64)
	}
	return numbers, nil
}

// newestCompared is how many of the newest events tell whether a database is an
// earlier copy of another: where the two have gone different ways, these differ.
const newestCompared = 100

// EarlierCopyOf returns nil when the database is empty or holds nothing that the
// other does not have too; otherwise ErrForeign and why.
func (db *DB) EarlierCopyOf(ctx context.Context, source *DB) error {
	return db.Snapshot(ctx, func(there *Snapshot) error {
		return source.Snapshot(ctx, func(here *Snapshot) error {
			if err := there.checkMerchants(ctx, here); err != nil {
				return err
			}
			return there.checkTokens(ctx, here)
		})
	})
}

// merchantRow is what tells a merchant from one of another installation.
type merchantRow struct {
	id        int64
	name      string
	createdAt int64
}

func (s *Snapshot) merchants(ctx context.Context) ([]merchantRow, error) {
	return sqldb.All(ctx, s, `SELECT id, name, created_at FROM merchants ORDER BY id`, nil, func(rows sqldb.Rows) (merchantRow, error) {
		var m merchantRow
		err := rows.Scan(&m.id, &m.name, &m.createdAt)
		return m, err
	})
}

// checkMerchants looks for merchants, orders and events that the source does not
// have.
func (s *Snapshot) checkMerchants(ctx context.Context, source *Snapshot) error {
	merchants, err := s.merchants(ctx)
	if err != nil {
		return err
	}
	sources, err := source.merchants(ctx)
	if err != nil {
		return err
	}
	own := make(map[merchantRow]bool, len(sources))
	for _, m := range sources {
		own[m] = true
	}
	known := make(map[int64]bool, len(merchants))
	for _, m := range merchants {
		known[m.id] = true
		if !own[m] {
			return fmt.Errorf("%w: its merchant %d is another one", ErrForeign, m.id)
		}
		if err := s.checkEvents(ctx, source, m.id); err != nil {
			return err
		}
	}
	return sqldb.Each(ctx, s, `SELECT DISTINCT merchant_id FROM orders`, nil, func(rows sqldb.Rows) error {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if !known[id] {
			return fmt.Errorf("%w: it has orders of merchant %d", ErrForeign, id)
		}
		return nil
	})
}

func (s *Snapshot) checkEvents(ctx context.Context, source *Snapshot, merchantID int64) error {
	var newest int64
	err := s.QueryRow(ctx, `SELECT COALESCE(MAX(seq), 0) FROM events WHERE merchant_id = $1`, []any{merchantID}, &newest)
	if err != nil {
		return err
	}
	events, err := s.Events(ctx, merchantID, newest-newestCompared, newest)
	if err != nil {
		return err
	}
	differing, err := events.differing(ctx, source)
	if err == nil && len(differing) > 0 {
		err = fmt.Errorf("%w: its merchant %d has events of its own", ErrForeign, merchantID)
	}
	return err
}

// checkTokens looks for tokens that the source does not have.
func (s *Snapshot) checkTokens(ctx context.Context, source *Snapshot) error {
	tokens, err := s.Tokens(ctx)
	if err != nil {
		return err
	}
	for _, p := range tokens {
		here, err := p.read(ctx, source)
		if err != nil {
			return err
		}
		hashes := make(map[any]string, len(here))
		for _, row := range here {
			hashes[row[0]] = string(row[1].([]byte))
		}
		for _, row := range p.rows {
			if hash, ok := hashes[row[0]]; !ok || hash != string(row[1].([]byte)) {
				return fmt.Errorf("%w: it has a token of its own, %d", ErrForeign, row[0])
			}
		}
	}
	return nil
}

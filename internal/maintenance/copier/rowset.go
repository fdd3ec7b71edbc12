package copier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/orderpb"
	"merchantorders/internal/store/search"
	"merchantorders/internal/store/sqldb"
)

// ErrForeignTarget means that the target holds rows that the source does not
// have. It is not an earlier copy of the source.
var ErrForeignTarget = errors.New("the target is neither empty nor an earlier copy of this installation")

// rowSet is all rows of a table that meet a condition.
type rowSet struct {
	table *table
	where string
	args  []any
	rows  [][]any
}

// readRows reads the rows that meet a condition.
func readRows(ctx context.Context, q sqldb.Querier, t *table, where string, args ...any) (rowSet, error) {
	set := rowSet{table: t, where: where, args: args}
	var err error
	set.rows, err = set.readFrom(ctx, q)
	return set, err
}

// readFrom reads the rows that meet the set's condition in another database.
func (s rowSet) readFrom(ctx context.Context, q sqldb.Querier) ([][]any, error) {
	rows, err := sqldb.All(ctx, q, s.table.selectWhere+s.where, s.args, func(rows sqldb.Rows) ([]any, error) {
		row, dest := make([]any, len(s.table.columns)), make([]any, len(s.table.columns))
		for i := range row {
			dest[i] = &row[i]
		}
		err := rows.Scan(dest...)
		return row, err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.table.name, err)
	}
	return rows, nil
}

// diff is what makes the same rows of another database equal to a set.
type diff struct {
	write   [][]any // rows that are missing there or differ
	old     [][]any // those of them that exist there, as they are there
	remove  [][]any // rows that exist only there
	updates bool    // some of the rows to write exist there, and are not damaged ones
}

// diff compares the set with the same rows of another database.
func (s rowSet) diff(ctx context.Context, q sqldb.Querier) (diff, error) {
	others, err := s.readFrom(ctx, q)
	if err != nil {
		return diff{}, err
	}
	unmatched := make(map[string][]any, len(others))
	for _, row := range others {
		unmatched[s.table.key(row)] = row
	}
	var d diff
	for _, row := range s.rows {
		key := s.table.key(row)
		other, exists := unmatched[key]
		if !slices.EqualFunc(row, other, equalValues) {
			d.write = append(d.write, row)
			damaged := exists && s.table.identity != "" && equalValues(s.table.column(row, s.table.identity), s.table.column(other, s.table.identity))
			d.updates = d.updates || exists && !damaged
			if exists {
				d.old = append(d.old, other)
			}
		}
		delete(unmatched, key)
	}
	d.remove = slices.Collect(maps.Values(unmatched))
	return d, nil
}

func equalValues(a, b any) bool {
	x, xBytes := a.([]byte)
	y, yBytes := b.([]byte)
	if xBytes && yBytes {
		return bytes.Equal(x, y)
	}
	return a == b
}

// applyTo makes the same rows of another database equal to the set, and returns
// how many it wrote and removed. It returns ErrForeignTarget if the service
// would never make such a change. The words of orders are not copied but derived from
// the orders again.
func (s rowSet) applyTo(ctx context.Context, tx sqldb.Querier, dialect *sqldb.Dialect) (int, error) {
	d, err := s.diff(ctx, tx)
	if err != nil {
		return 0, err
	}
	if s.table.permanent && len(d.remove) > 0 || s.table.immutable && d.updates {
		return 0, fmt.Errorf("%w: it has other rows in %s", ErrForeignTarget, s.table.name)
	}
	if err := s.table.write(ctx, tx, dialect, d); err != nil {
		return 0, fmt.Errorf("write %s: %w", s.table.name, err)
	}
	if s.table == ordersTable {
		if err := rewriteWords(ctx, tx, dialect, d); err != nil {
			return 0, fmt.Errorf("write the words of orders: %w", err)
		}
	}
	return len(d.write) + len(d.remove), nil
}

// write applies a diff. It removes rows first, because others may take over
// their unique values.
func (t *table) write(ctx context.Context, tx sqldb.Querier, dialect *sqldb.Dialect, d diff) error {
	for _, row := range d.remove {
		if _, err := tx.Exec(ctx, t.deleteOne, row[:t.keyColumns]...); err != nil {
			return err
		}
	}
	for text, args := range t.upsert.Statements(dialect, slices.Concat(d.write...)) {
		if _, err := tx.Exec(ctx, text, args...); err != nil { // at once: the error is of this table
			return err
		}
	}
	return nil
}

// rewriteWords replaces the words of orders that were written or removed.
func rewriteWords(ctx context.Context, tx sqldb.Querier, dialect *sqldb.Dialect, d diff) error {
	before, err := wordsOf(slices.Concat(d.old, d.remove))
	if err != nil {
		return err
	}
	after, err := wordsOf(d.write)
	if err != nil || slices.Equal(before, after) {
		return err
	}
	return search.Replace(ctx, tx, dialect, before, after)
}

// wordsOf returns the words of rows of orders.
func wordsOf(rows [][]any) (words []search.Word, err error) {
	for _, row := range rows {
		o := order.Order{
			MerchantID: ordersTable.int(row, "merchant_id"), LegacyID: ordersTable.int(row, "legacy_id"), Reference: ordersTable.text(row, "reference"),
			CreatedAt: time.Unix(ordersTable.int(row, "created_at"), 0), InvoiceNumbers: ordersTable.text(row, "invoice_numbers"),
			Customer: order.Customer{
				Email: ordersTable.text(row, "email"), FirstName: ordersTable.text(row, "first_name"),
				LastName: ordersTable.text(row, "last_name"), Company: ordersTable.text(row, "company"),
			},
		}
		for column, to := range map[string]**string{
			"phone": &o.Customer.Phone, "merchant_reference": &o.MerchantData.Reference, "merchant_note": &o.MerchantData.Note,
		} {
			if text, ok := ordersTable.column(row, column).(string); ok {
				*to = &text
			}
		}
		if err := orderpb.DecodeDetails(ordersTable.column(row, "details").([]byte), &o); err != nil {
			return nil, err
		}
		words = append(words, search.WordsOf(&o)...)
	}
	return words, nil
}

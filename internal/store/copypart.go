package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"merchantorders/internal/store/sqldb"
)

// ErrForeign says that the target of a copy holds what its source does not, so
// that it is no earlier copy of it.
var ErrForeign = errors.New("the target is neither empty nor an earlier copy of this installation")

// Part is all rows of a table that fulfil a condition, as they were at one
// moment of a source.
type Part struct {
	table *copiedTable
	where string
	args  []any
	rows  [][]any
}

// Len returns how many rows there are.
func (p Part) Len() int { return len(p.rows) }

// part reads the rows that fulfil a condition.
func part(ctx context.Context, r sqldb.Querier, table *copiedTable, where string, args ...any) (Part, error) {
	p := Part{table: table, where: where, args: args}
	var err error
	p.rows, err = p.read(ctx, r)
	return p, err
}

// read reads the rows of the part, as they are on r.
func (p Part) read(ctx context.Context, r sqldb.Querier) ([][]any, error) {
	rows, err := sqldb.All(ctx, r, p.table.selectRows+p.where, p.args, func(rows sqldb.Rows) ([]any, error) {
		row, into := make([]any, len(p.table.columns)), make([]any, len(p.table.columns))
		for i := range row {
			into[i] = &row[i]
		}
		err := rows.Scan(into...)
		return row, err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p.table.name, err)
	}
	return rows, nil
}

// difference is what has to be done to make the same part of another database
// equal.
type difference struct {
	write   [][]any // rows that are missing there or differ
	remove  [][]any // rows that are there alone
	changed bool    // some of those to write are there, and differ
}

// compare compares the part with the rows of another database.
func (p Part) compare(there [][]any) difference {
	others := make(map[string][]any, len(there))
	for _, row := range there {
		others[p.table.keyOf(row)] = row
	}
	var d difference
	for _, row := range p.rows {
		key := p.table.keyOf(row)
		other, isThere := others[key]
		if !equalRows(row, other) {
			d.write = append(d.write, row)
			d.changed = d.changed || isThere
		}
		delete(others, key)
	}
	for _, row := range there {
		if _, alone := others[p.table.keyOf(row)]; alone {
			d.remove = append(d.remove, row)
		}
	}
	return d
}

func equalRows(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		raw, isRaw := a[i].([]byte)
		other, isOther := b[i].([]byte)
		if isRaw != isOther || isRaw && !bytes.Equal(raw, other) || !isRaw && a[i] != b[i] {
			return false
		}
	}
	return true
}

// differing returns the rows of the part that another database does not have as
// they are, or has alone.
func (p Part) differing(ctx context.Context, r sqldb.Querier) ([][]any, error) {
	there, err := p.read(ctx, r)
	if err != nil {
		return nil, err
	}
	d := p.compare(there)
	return append(d.write, d.remove...), nil
}

// put makes the same part of the transaction's database equal, and returns how
// many rows that took. What is equal is left alone.
func (t *tx) put(ctx context.Context, p Part) (int, error) {
	there, err := p.read(ctx, t)
	if err != nil {
		return 0, err
	}
	d := p.compare(there)
	if p.table.lasting && len(d.remove) > 0 || p.table.fixed && d.changed {
		return 0, fmt.Errorf("%w: the rows of %s are others", ErrForeign, p.table.name)
	}
	// First what is to go: another row may take its name.
	for _, row := range d.remove {
		if _, err := t.Exec(ctx, p.table.deleteOne, row[:p.table.keys]...); err != nil {
			return 0, fmt.Errorf("write %s: %w", p.table.name, err)
		}
	}
	for rows := d.write; len(rows) > 0; {
		n, text := 1, p.table.insertOne
		if len(rows) >= rowsAtOnce {
			n, text = rowsAtOnce, p.table.insertMany
		}
		args := make([]any, 0, n*len(p.table.columns))
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		if _, err := t.Exec(ctx, text, args...); err != nil {
			return 0, fmt.Errorf("write %s: %w", p.table.name, err)
		}
		rows = rows[n:]
	}
	return len(d.write) + len(d.remove), nil
}

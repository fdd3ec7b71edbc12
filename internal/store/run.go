package store

import (
	"context"
	"database/sql"
	"sync"
)

// run is what statements are run on: the connections of a pool, or one
// transaction.
type run interface {
	exec(ctx context.Context, text string, args ...any) (sql.Result, error)
	query(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	// row reads one row into variables; sql.ErrNoRows when there is none.
	row(ctx context.Context, text string, args []any, into ...any) error
}

// prepared runs statements that are prepared once and kept.
type prepared struct {
	statement func(ctx context.Context, text string) (*sql.Stmt, error)
}

func (p prepared) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	statement, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, args...)
}

func (p prepared) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	statement, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

func (p prepared) row(ctx context.Context, text string, args []any, into ...any) error {
	statement, err := p.statement(ctx, text)
	if err != nil {
		return err
	}
	return statement.QueryRowContext(ctx, args...).Scan(into...)
}

// plain runs statements as they are, for a driver that keeps them prepared by
// itself.
type plain struct {
	on interface {
		ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
	}
}

func (p plain) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return p.on.ExecContext(ctx, text, args...)
}

func (p plain) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return p.on.QueryContext(ctx, text, args...)
}

func (p plain) row(ctx context.Context, text string, args []any, into ...any) error {
	return p.on.QueryRowContext(ctx, text, args...).Scan(into...)
}

// pool is a set of connections and a way to run statements on them.
type pool struct {
	run
	db         *sql.DB
	statements sync.Map // text -> *sql.Stmt; of a pool that keeps them
}

// keepingPool returns a pool that keeps statements prepared. Their texts are
// constants, or made of a few of them, so that their number is bounded.
func keepingPool(db *sql.DB) *pool {
	p := &pool{db: db}
	p.run = prepared{p.statement}
	return p
}

// plainPool returns a pool whose driver keeps statements prepared.
func plainPool(db *sql.DB) *pool { return &pool{db: db, run: plain{db}} }

// statement returns the statement of a text.
func (p *pool) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	if statement, ok := p.statements.Load(text); ok {
		return statement.(*sql.Stmt), nil
	}
	statement, err := p.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if kept, raced := p.statements.LoadOrStore(text, statement); raced {
		_ = statement.Close()
		return kept.(*sql.Stmt), nil
	}
	return statement, nil
}

// in returns a way to run statements in a transaction begun on the pool, and
// what to call when the transaction has ended.
func (p *pool) in(begun *sql.Tx) (r run, ended func(context.Context)) {
	if _, ok := p.run.(plain); ok {
		return plain{begun}, func(context.Context) {}
	}
	// A statement that the pool does not have yet is prepared for this
	// transaction alone: the pool cannot prepare it now, since its only
	// connection may be the one in use. It does so when the transaction has
	// ended; an error then is of no consequence, the next one tries again.
	var missing []string
	inTx := prepared{func(ctx context.Context, text string) (*sql.Stmt, error) {
		if statement, ok := p.statements.Load(text); ok {
			return begun.StmtContext(ctx, statement.(*sql.Stmt)), nil
		}
		missing = append(missing, text)
		return begun.PrepareContext(ctx, text)
	}}
	return inTx, func(ctx context.Context) {
		for _, text := range missing {
			_, _ = p.statement(ctx, text)
		}
	}
}

// each calls scan for every row of a query.
func each(ctx context.Context, r run, text string, args []any, scan func(*sql.Rows) error) error {
	rows, err := r.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// changed turns a statement's result into whether it changed a row.
func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

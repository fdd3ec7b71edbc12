package store

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// run is what statements are run on: the connections of a pool, or one
// transaction.
type run interface {
	exec(ctx context.Context, text string, args ...any) (sql.Result, error)
	query(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	// row reads one row into variables; sql.ErrNoRows when there is none.
	row(ctx context.Context, text string, args []any, into ...any) error
	// bounded returns the context of a query, which ends when the database has
	// had its time to answer. The others see to that by themselves.
	bounded(ctx context.Context) (context.Context, context.CancelFunc)
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

// bounded sets no limit: a database in a file answers, or fails, by itself.
func (p prepared) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// plain runs statements as they are, for a driver that keeps them prepared by
// itself and a server that may never answer.
type plain struct {
	on interface {
		ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
	}
	limit time.Duration // of a statement, with the wait for a connection
}

func (p plain) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, p.limit)
}

func (p plain) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	return p.on.ExecContext(ctx, text, args...)
}

func (p plain) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return p.on.QueryContext(ctx, text, args...)
}

func (p plain) row(ctx context.Context, text string, args []any, into ...any) error {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
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

// plainPool returns a pool whose driver keeps statements prepared. limit bounds
// each statement.
func plainPool(db *sql.DB, limit time.Duration) *pool {
	return &pool{db: db, run: plain{on: db, limit: limit}}
}

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
	if bare, ok := p.run.(plain); ok {
		return plain{on: begun, limit: bare.limit}, func(context.Context) {}
	}
	// A statement that the pool does not have yet is prepared for this
	// transaction alone: the pool cannot prepare it now, since its only
	// connection may be the one in use. It does so when the transaction has
	// ended; an error then is of no consequence, the next one tries again.
	var missing []string
	// One for each text, however often it runs: they live until the transaction
	// ends, and a batch of orders runs the same few thousands of times.
	statements := make(map[string]*sql.Stmt)
	inTx := prepared{func(ctx context.Context, text string) (*sql.Stmt, error) {
		if statement, ok := statements[text]; ok {
			return statement, nil
		}
		if kept, ok := p.statements.Load(text); ok {
			statements[text] = begun.StmtContext(ctx, kept.(*sql.Stmt))
			return statements[text], nil
		}
		statement, err := begun.PrepareContext(ctx, text)
		if err != nil {
			return nil, err
		}
		statements[text], missing = statement, append(missing, text)
		return statement, nil
	}}
	return inTx, func(ctx context.Context) {
		for _, text := range missing {
			_, _ = p.statement(ctx, text)
		}
	}
}

// each calls scan for every row of a query.
func each(ctx context.Context, r run, text string, args []any, scan func(*sql.Rows) error) error {
	ctx, cancel := r.bounded(ctx)
	defer cancel()
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

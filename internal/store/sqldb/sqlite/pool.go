package sqlite

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"

	"merchantorders/internal/store/sqldb"
)

// pool is the connections for reading. It implements sqldb.Querier.
type pool struct {
	free   chan struct{} // holds one value for each idle connection
	idle   *idleConns
	closed chan struct{}
	// content is that of the files: nothing is read from those of another database.
	content *content
	// interruptible makes statements end with their context even while SQLite works
	// on them. That costs too much for the short statements of requests.
	interruptible bool
}

// idleConns is a stack of idle connections. The connection used last has the
// newest page cache, so it is used first; those rarely used hold little memory.
type idleConns struct {
	mu    sync.Mutex
	conns []*conn
	waits atomic.Uint64 // how often take has found none
}

func newPool(size int) pool {
	return pool{free: make(chan struct{}, size), idle: &idleConns{}, closed: make(chan struct{}), content: new(content)}
}

// take takes a connection out of the pool; put puts it back.
func (p pool) take(ctx context.Context) (*conn, error) {
	if found := p.content.found.Load(); found != nil {
		return nil, found
	}
	select {
	case <-p.free:
	default:
		p.idle.waits.Add(1)
		select {
		case <-p.free:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.closed:
			return nil, sqldb.ErrClosed
		}
	}
	c := p.idle.pop()
	if p.interruptible {
		c.sqlite.SetInterrupt(ctx.Done())
	}
	return c, nil
}

func (p pool) put(c *conn) {
	if p.interruptible {
		c.sqlite.SetInterrupt(nil)
	}
	p.idle.push(c)
	p.free <- struct{}{}
}

func (i *idleConns) push(c *conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.conns = append(i.conns, c)
}

func (i *idleConns) pop() *conn {
	i.mu.Lock()
	defer i.mu.Unlock()
	last := len(i.conns) - 1
	c := i.conns[last]
	i.conns = i.conns[:last]
	return c
}

// with calls fn with a connection.
func (p pool) with(ctx context.Context, fn func(*conn) error) error {
	c, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer p.put(c)
	return fn(c)
}

// Exec implements sqldb.Querier. The connections cannot write: this is for
// statements such as PRAGMA.
func (p pool) Exec(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = p.with(ctx, func(c *conn) (err error) { n, err = c.Exec(ctx, text, args...); return err })
	return n, err
}

// QueryRow implements sqldb.Querier.
func (p pool) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	return p.with(ctx, func(c *conn) error { return c.QueryRow(ctx, text, args, dest...) })
}

// Query implements sqldb.Querier.
func (p pool) Query(ctx context.Context, text string, args []any, scan func(sqldb.Rows) error) error {
	return p.with(ctx, func(c *conn) error { return c.Query(ctx, text, args, scan) })
}

// QueryMany implements sqldb.Querier.
func (p pool) QueryMany(ctx context.Context, queries iter.Seq2[string, []any], scan func(int, sqldb.Rows) error) error {
	return sqldb.OneByOne(ctx, p, queries, scan)
}

// Later implements sqldb.Querier.
func (p pool) Later(ctx context.Context, noRow error, text string, args ...any) error {
	return sqldb.Now(ctx, p, noRow, text, args...)
}

// WithoutTimeout implements sqldb.Querier.
func (p pool) WithoutTimeout() sqldb.Querier {
	p.interruptible = true
	return p
}

// close closes the connections. None may be in use.
func (p pool) close() error {
	select {
	case <-p.closed:
		return nil
	default:
		close(p.closed)
	}
	var err error
	for {
		select {
		case <-p.free:
			err = errors.Join(err, p.idle.pop().sqlite.Close())
		default:
			return err
		}
	}
}

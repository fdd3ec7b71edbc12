package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// mostTogether is how many changes share one commit at most.
const mostTogether = 64

// writer is the one connection that writes to a file. Changes that wait for each
// other share a transaction: the disk is asked once to make all of them durable,
// and each caller is told only then. With 16 clients that is several times the
// rate of a commit each. Every change is undone alone if it fails, and done again
// alone if the transaction that it was part of does.
type writer struct {
	conn *fileConn
	// patience is how long a change waits for another process that is writing.
	patience time.Duration

	mu      sync.Mutex
	leading bool      // some caller works on the connection
	waiting []*queued // the first to come first
	closed  bool
}

// errLost says that a transaction ended before its time.
var errLost = errors.New("the transaction was lost")

// queued is what one caller wants done.
type queued struct {
	ctx    context.Context
	fn     func(run) error
	since  time.Time // when it came
	turn   chan bool // true: lead; false: it is done
	err    error
	panics any
}

func newWriter(conn *fileConn) *writer { return &writer{conn: conn, patience: busyTimeout} }

// change runs fn in a transaction and returns when it is durable or undone.
func (w *writer) change(ctx context.Context, fn func(run) error) error {
	c := &queued{ctx: ctx, fn: fn, since: time.Now()}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed
	}
	lead := !w.leading
	if lead {
		w.leading = true
	} else {
		c.turn = make(chan bool, 1)
		w.waiting = append(w.waiting, c)
	}
	w.mu.Unlock()
	if !lead {
		var err error
		if lead, err = w.await(c); err != nil {
			return err
		}
	}
	if lead {
		w.lead(c)
	}
	if c.panics != nil {
		panic(c.panics)
	}
	return c.err
}

// await waits until a change is done, or is to lead, or nobody waits for it any
// more.
func (w *writer) await(c *queued) (bool, error) {
	select {
	case lead := <-c.turn:
		return lead, nil
	case <-c.ctx.Done():
	}
	w.mu.Lock()
	for i, other := range w.waiting {
		if other == c {
			w.waiting = append(w.waiting[:i:i], w.waiting[i+1:]...)
			w.mu.Unlock()
			return false, c.ctx.Err()
		}
	}
	w.mu.Unlock()
	// Somebody is at work on it, or it is to lead; it looks at its context again.
	return <-c.turn, nil
}

// close closes the connection. Nothing may be under way.
func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	return w.conn.conn.Close()
}

// lead does a change, together with those that wait by the time it may begin,
// and lets the next one lead.
func (w *writer) lead(first *queued) {
	defer w.handOver()
	if first.err = w.begin(first); first.err != nil {
		return
	}
	together := append([]*queued{first}, w.take(mostTogether-1)...)
	defer func() {
		for _, c := range together[1:] {
			c.turn <- false
		}
	}()
	if w.together(together) {
		return
	}
	// The transaction is lost, whosever fault it is: each alone now.
	for _, c := range together {
		if c.err = w.begin(c); c.err == nil {
			w.together([]*queued{c})
		}
	}
}

// take takes up to n of those that wait.
func (w *writer) take(n int) []*queued {
	w.mu.Lock()
	defer w.mu.Unlock()
	n = min(n, len(w.waiting))
	taken := w.waiting[:n:n]
	w.waiting = w.waiting[n:]
	return taken
}

// handOver lets the one that waits longest lead.
func (w *writer) handOver() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		w.leading = false
		return
	}
	w.waiting[0].turn <- true
	w.waiting = w.waiting[1:]
}

// begin begins a transaction. Where another process is writing it tries again,
// until the change's context ends or it has waited long enough, the time before
// its turn included: SQLite itself would be deaf to the context.
func (w *writer) begin(c *queued) error {
	ctx := c.ctx
	waiting, cancel := context.WithDeadline(ctx, c.since.Add(w.patience))
	defer cancel()
	for {
		_, err := w.conn.exec(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			return nil
		}
		if sqliteCode(err) != sqlite3.SQLITE_BUSY || waiting.Err() != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return fmt.Errorf("begin: %w", err)
		}
	}
}

// together does changes in the transaction that has begun, and commits those
// that went well. It reports false, with nothing done, where the transaction is
// lost and there are several that could be done alone.
func (w *writer) together(changes []*queued) bool {
	alone := len(changes) == 1
	done := 0
	for _, c := range changes {
		c.err = w.do(c, alone)
		if c.err == nil && c.panics == nil {
			done++
		}
		if w.conn.conn.AutocommitEnabled() {
			// SQLite has ended the transaction: the disk is full, say.
			if alone && c.err == nil {
				c.err = errLost
			}
			return alone
		}
	}
	if done == 0 {
		w.rollback()
		return true
	}
	if _, err := w.conn.exec(context.Background(), "COMMIT"); err != nil {
		w.rollback()
		if !alone {
			return false
		}
		changes[0].err = fmt.Errorf("commit: %w", err)
	}
	return true
}

// do does one change. Among several it can be undone by itself.
func (w *writer) do(c *queued, alone bool) error {
	c.err, c.panics = nil, nil
	if alone {
		return w.call(c)
	}
	ctx := context.Background()
	if _, err := w.conn.exec(ctx, "SAVEPOINT one"); err != nil {
		return err
	}
	err := w.call(c)
	if (err != nil || c.panics != nil) && !w.conn.conn.AutocommitEnabled() {
		_, undo := w.conn.exec(ctx, "ROLLBACK TO one")
		err = errors.Join(err, undo)
	}
	if w.conn.conn.AutocommitEnabled() {
		return err
	}
	_, release := w.conn.exec(ctx, "RELEASE one")
	return errors.Join(err, release)
}

// call runs a change's own part. A panic is its caller's.
func (w *writer) call(c *queued) error {
	defer func() { c.panics = recover() }()
	if err := c.ctx.Err(); err != nil {
		return err
	}
	return c.fn(w.conn)
}

// rollback ends what is left of a transaction.
func (w *writer) rollback() {
	if !w.conn.conn.AutocommitEnabled() {
		_, _ = w.conn.exec(context.Background(), "ROLLBACK")
	}
}

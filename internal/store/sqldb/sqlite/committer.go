package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"merchantorders/internal/store/sqldb"
)

// maxBatch is how many transactions share one commit at most.
const maxBatch = 64

// committer is the one connection that writes. It does group commit: the
// transactions that wait for each other become a batch, which runs in one
// transaction of SQLite and is made durable by one sync of the disk. Each caller
// returns after that sync. With 16 clients this is several times the rate of one
// commit for each.
//
// Most transactions that fail have written nothing, such as one for an order in another
// state: the others of the batch are committed. If one has written before it fails, the
// batch is rolled back and the others run again without it. A savepoint for each would
// save this, but SQLite would copy each page once more for each savepoint after which it
// changes: an accept by one of 8 clients took a fifth more processor time. If SQLite ends
// the transaction of the batch, each runs again in a transaction of its own.
//
// There is no goroutine: the caller whose transaction is first in the queue is
// the leader, which runs the batch and then makes the next in the queue the
// leader.
type committer struct {
	conn  *conn
	path  string
	turn  turn
	files openFiles
	// content is that of the files.
	content *content
	// timeout is how long a transaction waits for another process that writes.
	timeout time.Duration

	mu     sync.Mutex
	led    bool       // there is a leader
	queue  []*writeTx // without the leader's; the longest waiting first
	closed bool
}

// writeTx is the transaction of one caller.
type writeTx struct {
	ctx      context.Context
	fn       func(sqldb.Querier) error
	enqueued time.Time
	wake     chan bool // receives true: become the leader; false: it is done
	err      error
	panicked any // what fn panicked with
}

// failed reports whether fn returned an error or panicked.
func (tx *writeTx) failed() bool { return tx.err != nil || tx.panicked != nil }

// errTxLost means that SQLite ended a transaction before its commit.
var errTxLost = errors.New("the transaction was rolled back by SQLite")

func newCommitter(c *conn, path string, content *content) *committer {
	return &committer{conn: c, content: content, path: path, turn: newTurn(path + ".turn.lock"), timeout: busyTimeout}
}

// inTx runs fn in a transaction. It returns once that is durable or rolled back.
func (c *committer) inTx(ctx context.Context, fn func(sqldb.Querier) error) error {
	tx := &writeTx{ctx: ctx, fn: fn, enqueued: time.Now()}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return sqldb.ErrClosed
	}
	leader := !c.led
	if leader {
		c.led = true
	} else {
		tx.wake = make(chan bool, 1)
		c.queue = append(c.queue, tx)
	}
	c.mu.Unlock()
	if !leader {
		var err error
		if leader, err = c.wait(tx); err != nil {
			return err
		}
	}
	if leader {
		c.lead(tx)
	}
	if tx.panicked != nil {
		panic(tx.panicked)
	}
	return tx.err
}

// wait waits until a queued transaction is done or is to lead. If its context
// ends first it is removed from the queue.
func (c *committer) wait(tx *writeTx) (leader bool, err error) {
	select {
	case leader := <-tx.wake:
		return leader, nil
	case <-tx.ctx.Done():
	}
	c.mu.Lock()
	for i, other := range c.queue {
		if other == tx {
			c.queue = append(c.queue[:i:i], c.queue[i+1:]...)
			c.mu.Unlock()
			return false, tx.ctx.Err()
		}
	}
	c.mu.Unlock()
	// It is part of a batch or is to lead. Both check its context.
	return <-tx.wake, nil
}

// close closes the connection. No transaction may be in progress.
func (c *committer) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return c.conn.sqlite.Close()
}

// lead runs the leader's transaction in a batch with those that are queued when
// the batch begins. Then it makes the next transaction the leader.
func (c *committer) lead(leader *writeTx) {
	defer c.passLead()
	writing.RLock()
	defer writing.RUnlock()
	if leader.err = c.begin(leader); leader.err != nil {
		return
	}
	batch := append([]*writeTx{leader}, c.dequeue(maxBatch-1)...)
	defer func() {
		for _, tx := range batch[1:] {
			tx.wake <- false
		}
	}()
	c.run(batch)
}

// dequeue removes up to n transactions from the queue.
func (c *committer) dequeue(n int) []*writeTx {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = min(n, len(c.queue))
	first := c.queue[:n:n]
	c.queue = c.queue[n:]
	return first
}

// passLead makes the first of the queue the leader.
func (c *committer) passLead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.led = false
		return
	}
	c.queue[0].wake <- true
	c.queue = c.queue[1:]
}

// begin begins a transaction of SQLite for tx. While another process writes it
// retries until the context of tx ends or tx has waited for c.timeout, including
// its time in the queue.
func (c *committer) begin(tx *writeTx) error {
	if err := c.checkFiles(); err != nil {
		return err
	}
	waiting, cancel := context.WithDeadline(tx.ctx, tx.enqueued.Add(c.timeout))
	defer cancel()
	c.turn.take(waiting)
	defer c.turn.pass()
	for {
		_, err := c.conn.Exec(tx.ctx, "BEGIN IMMEDIATE")
		if err == nil {
			return nil
		}
		if resultCode(err) == sqlite3.SQLITE_BUSY && pause(waiting) {
			continue
		}
		if tx.ctx.Err() != nil {
			err = tx.ctx.Err()
		}
		if holder := writeLockHolder(c.path); holder != "" {
			return fmt.Errorf("begin: %w; the write lock is held by %s", err, holder)
		}
		return fmt.Errorf("begin: %w", err)
	}
}

// run runs transactions in the transaction of SQLite that has begun, and commits those
// that succeed. If some have written before they failed, it rolls everything back, runs
// the others together again, and then those alone.
func (c *committer) run(batch []*writeTx) {
	if len(batch) == 1 {
		c.runAlone(batch[0])
		return
	}
	partial, ok := c.runBatch(batch)
	if ok {
		return
	}
	c.rollback()
	others := slices.DeleteFunc(slices.Clone(batch), func(tx *writeTx) bool { return slices.Contains(partial, tx) })
	if len(partial) > 0 && len(others) > 0 && c.begin(others[0]) == nil {
		c.run(others)
		batch = partial
	}
	for _, tx := range batch {
		if tx.err = c.begin(tx); tx.err == nil {
			c.runAlone(tx)
		}
	}
}

// runBatch runs transactions in the transaction of SQLite that has begun, and commits
// it. If it returns false nothing is committed, the errors of the transactions are not
// valid, and partial are those that have written before they failed.
func (c *committer) runBatch(batch []*writeTx) (partial []*writeTx, ok bool) {
	succeeded := 0
	for _, tx := range batch {
		c.conn.wrote = false
		c.call(tx)
		switch {
		case c.conn.sqlite.AutocommitEnabled(): // SQLite has rolled back, for example because the disk is full
			return nil, false
		case !tx.failed():
			succeeded++
		case c.conn.wrote:
			partial = append(partial, tx)
		}
	}
	switch {
	case len(partial) > 0:
		return partial, false
	case succeeded == 0:
		c.rollback()
		return nil, true
	}
	err := c.commit()
	_, replaced := errors.AsType[*ReplacedError](err)
	if replaced {
		for _, tx := range batch {
			tx.err = cmp.Or(tx.err, err)
		}
	}
	return nil, err == nil || replaced
}

// runAlone runs one transaction in the transaction of SQLite that has begun, and
// commits it.
func (c *committer) runAlone(tx *writeTx) {
	c.call(tx)
	switch {
	case tx.failed():
		c.rollback()
	case c.conn.sqlite.AutocommitEnabled():
		tx.err = errTxLost
	default:
		if err := c.commit(); err != nil {
			c.rollback()
			tx.err = fmt.Errorf("commit: %w", err)
		}
	}
}

// commit commits the transaction of SQLite. It returns a ReplacedError if that was the
// transaction of a file that is not the database any more.
func (c *committer) commit() error {
	if _, err := c.conn.Exec(context.Background(), "COMMIT"); err != nil {
		return err
	}
	return c.checkFiles()
}

// checkFiles returns a ReplacedError if a file of the database is not what SQLite uses.
func (c *committer) checkFiles() error {
	if err := c.content.check(); err != nil { // which moves a file
		return err
	}
	return c.files.check()
}

// call calls fn. A panic is recovered here and raised again in the goroutine of
// the caller.
func (c *committer) call(tx *writeTx) {
	tx.err, tx.panicked = nil, nil
	defer func() { tx.panicked = recover() }()
	if tx.err = tx.ctx.Err(); tx.err == nil {
		tx.err = tx.fn(c.conn)
	}
}

// rollback ends a transaction that has not ended by itself.
func (c *committer) rollback() {
	if !c.conn.sqlite.AutocommitEnabled() {
		_, _ = c.conn.Exec(context.Background(), "ROLLBACK")
	}
}

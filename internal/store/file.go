package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// file is the connections to a database in a file: several that read, and one
// that writes.
type file struct {
	readers
	path   string
	writer *writer
	moment momentFile
	grants grants
}

// openFile opens the connections to a database that is there and has its
// tables.
func openFile(path string) (*file, error) {
	settings := []string{"foreign_keys=1", "synchronous=FULL"}
	most := max(4, 2*runtime.GOMAXPROCS(0))
	f := &file{readers: newReaders(most), path: path}
	for range most {
		reader, err := openFileConn(path, busyTimeout, append(settings, "query_only=1")...)
		if err != nil {
			return nil, errors.Join(err, f.readers.close())
		}
		f.give(reader)
	}
	conn, err := openFileConn(path, busySlice, settings...)
	if err != nil {
		return nil, errors.Join(err, f.readers.close())
	}
	f.writer = newWriter(conn)
	// The first reading makes the file that tells the moment.
	if err := f.ping(context.Background()); err != nil {
		return nil, errors.Join(err, f.readers.close(), f.writer.close())
	}
	if f.moment, err = openMoment(path); err != nil {
		return nil, errors.Join(err, f.readers.close(), f.writer.close())
	}
	return f, nil
}

// change implements connections.
func (f *file) change(ctx context.Context, fn func(run) error) error { return f.writer.change(ctx, fn) }

// snapshot implements connections.
func (f *file) snapshot(ctx context.Context, fn func(run) error) error {
	reads := f.readers
	reads.interruptible = true
	return reads.on(ctx, func(reader *fileConn) error {
		if _, err := reader.exec(ctx, "BEGIN"); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer func() {
			// While it is interrupted the connection runs no statement, this one
			// neither.
			reader.conn.SetInterrupt(nil)
			_, _ = reader.exec(context.WithoutCancel(ctx), "ROLLBACK")
		}()
		return fn(reader)
	})
}

// ping implements connections.
func (f *file) ping(ctx context.Context) error {
	var n int64
	return f.row(ctx, `SELECT COUNT(*) FROM counters`, nil, &n)
}

// close implements connections. Done again it does nothing.
func (f *file) close() error {
	err := errors.Join(f.readers.close(), f.writer.close())
	_ = f.moment.file.Close()
	return err
}

// backup writes one moment of the database to a new file.
func (f *file) backup(ctx context.Context, path string) error {
	conn, err := openFileConn(f.path, busyTimeout)
	if err != nil {
		return err
	}
	conn.conn.SetInterrupt(ctx.Done())
	_, err = conn.exec(ctx, `VACUUM INTO $1`, path)
	return errors.Join(err, conn.conn.Close())
}

// readers run statements on whichever of several connections is free.
type readers struct {
	free   chan struct{} // one for each connection that is idle
	idle   *idleConns
	closed chan struct{}
	// interruptible statements end with their context also while SQLite is at
	// work on them. That costs too much for the short ones of requests.
	interruptible bool
}

// idleConns are connections that are not in use. The one used last is taken
// first: what it has in memory is the newest, and those that are seldom needed
// keep nothing.
type idleConns struct {
	mu    sync.Mutex
	conns []*fileConn
}

func newReaders(most int) readers {
	return readers{free: make(chan struct{}, most), idle: &idleConns{}, closed: make(chan struct{})}
}

// errClosed says that a database is used that was closed.
var errClosed = errors.New("the database is closed")

// take takes a connection, and give gives it back.
func (r readers) take(ctx context.Context) (*fileConn, error) {
	select {
	case <-r.free:
		return r.idle.pop(), nil
	default:
	}
	select {
	case <-r.free:
		return r.idle.pop(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.closed:
		return nil, errClosed
	}
}

func (r readers) give(conn *fileConn) {
	r.idle.mu.Lock()
	r.idle.conns = append(r.idle.conns, conn)
	r.idle.mu.Unlock()
	r.free <- struct{}{}
}

func (i *idleConns) pop() *fileConn {
	i.mu.Lock()
	defer i.mu.Unlock()
	last := len(i.conns) - 1
	conn := i.conns[last]
	i.conns = i.conns[:last]
	return conn
}

// hold takes a connection for one use, and letGo ends that.
func (r readers) hold(ctx context.Context) (*fileConn, error) {
	conn, err := r.take(ctx)
	if err == nil && r.interruptible {
		conn.conn.SetInterrupt(ctx.Done())
	}
	return conn, err
}

func (r readers) letGo(conn *fileConn) {
	if r.interruptible {
		conn.conn.SetInterrupt(nil)
	}
	r.give(conn)
}

// on runs fn on a connection.
func (r readers) on(ctx context.Context, fn func(*fileConn) error) error {
	conn, err := r.hold(ctx)
	if err != nil {
		return err
	}
	defer r.letGo(conn)
	return fn(conn)
}

func (r readers) exec(ctx context.Context, text string, args ...any) (int64, error) {
	var n int64
	err := r.on(ctx, func(conn *fileConn) error {
		var err error
		n, err = conn.exec(ctx, text, args...)
		return err
	})
	return n, err
}

func (r readers) row(ctx context.Context, text string, args []any, into ...any) error {
	return r.on(ctx, func(conn *fileConn) error { return conn.row(ctx, text, args, into...) })
}

func (r readers) query(ctx context.Context, text string, args ...any) (result, error) {
	conn, err := r.hold(ctx)
	if err != nil {
		return nil, err
	}
	statement, err := conn.begin(ctx, text, args)
	if err != nil {
		r.letGo(conn)
		return nil, err
	}
	return &fileRows{ctx: ctx, statement: statement, release: func() { r.letGo(conn) }}, nil
}

func (r readers) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

func (r readers) patient() run {
	r.interruptible = true
	return r
}

// close closes the connections. None may be in use.
func (r readers) close() error {
	select {
	case <-r.closed:
		return nil
	default:
		close(r.closed)
	}
	var err error
	for {
		select {
		case <-r.free:
			err = errors.Join(err, r.idle.pop().conn.Close())
		default:
			return err
		}
	}
}

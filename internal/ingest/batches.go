package ingest

import (
	"cmp"
	"context"
	"fmt"
	"io"
)

// batchSize is the maximum number of lines in a batch. SQLite imports it in one full
// transaction (sqldb.Dialect.MaxImportOrders).
const batchSize = 2 * 3 * 64

// batches reads items, one a line, and does something with them in batches.
type batches[T any] struct {
	size int // maximum number of lines in a batch; 0: batchSize
	// maxLine is the longest line, in bytes; 0: MaxLineLength.
	maxLine int
	// parse parses the line with a number, from 1. It is called beside do.
	parse func(number int, text []byte) (T, error)
	// do handles a batch and returns a result for each item, in their order. It must
	// not retain the batch. Its context does not end, so that results are not lost.
	do func(ctx context.Context, batch []T) ([]Result, error)
}

// run is Lines.Run.
func (b batches[T]) run(ctx context.Context, r io.Reader, check func() error, done DoneFunc) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines, blocks := newLineReader(b, r), make(chan block[T], readAhead)
	var readErr error
	go func() {
		defer close(blocks)
		readErr = lines.sendTo(ctx, blocks)
	}()
	run := batchRun[T]{batches: b, check: check, done: done, release: lines.ahead.Release}
	if err := run.all(ctx, blocks); err != nil {
		return err
	}
	return readErr
}

// batchRun is the last stage of run: it gathers batches and handles them.
type batchRun[T any] struct {
	batches[T]
	check   func() error
	done    DoneFunc
	lines   []Line // of the current batch
	batch   []T    // the valid items of lines
	held    int64  // bytes of its blocks
	read    int64  // bytes of the input up to the end of the last block
	release func(int64)
}

// all handles the lines of the blocks until there are no more. It handles the batch before
// it waits for input.
func (r *batchRun[T]) all(ctx context.Context, blocks <-chan block[T]) error {
	for more := true; more; {
		var next block[T]
		select {
		case next, more = <-blocks:
		default:
			if err := r.flush(ctx); err != nil {
				return err
			}
			select {
			case next, more = <-blocks:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		r.held += next.size
		for _, line := range next.lines {
			if err := r.add(ctx, line); err != nil {
				return err
			}
		}
		r.read = max(r.read, next.end)
	}
	return r.flush(ctx)
}

// add adds a line to the batch and flushes the batch when it is full.
func (r *batchRun[T]) add(ctx context.Context, line parsedLine[T]) error {
	r.lines = append(r.lines, line.Line)
	if line.item != nil {
		r.batch = append(r.batch, *line.item)
	}
	if len(r.lines) < cmp.Or(r.size, batchSize) {
		return nil
	}
	return r.flush(ctx)
}

// flush handles the current batch.
func (r *batchRun[T]) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var results []Result
	if len(r.batch) > 0 {
		err := r.check()
		if err != nil {
			return err
		}
		if results, err = r.do(context.WithoutCancel(ctx), r.batch); err != nil {
			return err
		}
		if len(results) != len(r.batch) {
			return fmt.Errorf("%d results for %d lines", len(results), len(r.batch))
		}
	}
	for i := range r.lines {
		if line := &r.lines[i]; line.Status == "" { // it was valid
			results[0].Number = line.Number
			line.Result, results = results[0], results[1:]
		}
	}
	err := r.done(r.lines, r.read)
	clear(r.lines)
	clear(r.batch)
	r.release(r.held)
	r.lines, r.batch, r.held = r.lines[:0], r.batch[:0], 0
	return err
}

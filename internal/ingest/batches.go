package ingest

import (
	"cmp"
	"context"
	"errors"
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
	// parse parses the line with a number, from 1. It is called from several goroutines.
	parse func(number int, text []byte) (T, error)
	// do handles a batch and returns a result for each item, in their order. It must
	// not retain the batch. Its context does not end, so that results are not lost.
	do func(ctx context.Context, batch []T) ([]Result, error)
}

// run is Lines.Run.
func (b batches[T]) run(ctx context.Context, r io.Reader, check func() error, done DoneFunc) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines, blocks := newLineReader(r, cmp.Or(b.maxLine, MaxLineLength), b.parse), make(chan *block[T], readAhead)
	go lines.sendTo(ctx, blocks)
	run := batchRun[T]{batches: b, check: check, done: done, release: func(handled *block[T]) { lines.ahead.Release(lines.size(handled)) }}
	err := run.all(ctx, blocks)
	if err == nil && !errors.Is(lines.err, io.EOF) {
		err = lines.err
	}
	return err
}

// batchRun is the last stage of run: it gathers batches and handles them.
type batchRun[T any] struct {
	batches[T]
	check   func() error
	done    DoneFunc
	lines   []Line // of the current batch
	batch   []T    // the valid items of lines
	read    int64  // bytes of the input up to the end of the last block
	blank   int    // lines before the next block that are blank, in a row
	release func(*block[T])
}

// all handles the lines of the blocks until there are no more.
func (r *batchRun[T]) all(ctx context.Context, blocks <-chan *block[T]) error {
	for {
		block, err := r.next(ctx, blocks)
		if err != nil {
			return err
		}
		if block == nil {
			return r.flush(ctx)
		}
		<-block.parsed
		if r.blank += block.count; len(block.lines) > 0 {
			r.blank = 0
		}
		if r.blank > maxBlank {
			return errors.Join(r.flush(ctx), ErrBlank)
		}
		for _, line := range block.lines {
			if err := r.add(ctx, line); err != nil {
				return err
			}
		}
		r.read = block.end
		r.release(block)
	}
}

// next returns the next block; nil if there are no more. It flushes the batch
// before it waits for input.
func (r *batchRun[T]) next(ctx context.Context, blocks <-chan *block[T]) (*block[T], error) {
	select {
	case next := <-blocks:
		return next, nil
	default:
	}
	if err := r.flush(ctx); err != nil {
		return nil, err
	}
	select {
	case next := <-blocks:
		return next, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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
	r.lines, r.batch = r.lines[:0], r.batch[:0]
	return err
}

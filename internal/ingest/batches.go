package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// batchSize is the maximum number of lines in a batch. SQLite imports it in one full
// transaction (sqldb.Dialect.MaxImportOrders).
const batchSize = 2 * 3 * 64

// Line is a line of an input after its batch.
type Line[T, R any] struct {
	Number int // the first line is 1
	// Text is the line as it came, without the line end, and valid until Done
	// returns; nil if it is longer than MaxLineLength.
	Text    []byte
	Item    *T     // nil: the line is invalid
	Problem string // of an invalid line
	Result  R      // of the item
}

// Batches reads items, one a line, and does something with them in batches, in the
// order of the input.
type Batches[T, R any] struct {
	// Parse parses the line with a number, from 1. It is called from several goroutines.
	Parse func(number int, text []byte) (T, error)
	// Do handles a batch and returns a result for each item, in their order. It must
	// not retain the batch.
	Do func(ctx context.Context, batch []T) ([]R, error)
	// Done receives all lines of a batch, also the invalid ones, and the number of
	// bytes of the input that are processed at least. Its error ends Run.
	Done func(lines []Line[T, R], read int64) error
}

// Run handles an input. It ignores blank lines and continues after invalid ones. It
// stops at an error of the reader, of Do or of Done, and when ctx ends.
//
// Run does not wait for a full batch: when the input blocks, it handles the lines that
// it has read. The input may be a pipe with a slow writer.
//
// Run reads ahead. After an error, a Read of r may still be running when it returns.
func (b Batches[T, R]) Run(ctx context.Context, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines, blocks := newLineReader(r, b.Parse), make(chan *block[T], readAhead)
	go lines.sendTo(ctx, blocks)
	run := batchRun[T, R]{Batches: b}
	err := run.all(ctx, blocks)
	if err == nil && !errors.Is(lines.err, io.EOF) {
		err = lines.err
	}
	return err
}

// batchRun is the last stage of Run: it gathers batches and handles them.
type batchRun[T, R any] struct {
	Batches[T, R]
	lines []Line[T, R] // of the current batch
	batch []T          // the valid items of lines
	read  int64        // bytes of the input up to the end of the last block
}

// all handles the lines of the blocks until there are no more.
func (r *batchRun[T, R]) all(ctx context.Context, blocks <-chan *block[T]) error {
	for {
		block, err := r.next(ctx, blocks)
		if err != nil {
			return err
		}
		if block == nil {
			return r.flush(ctx)
		}
		<-block.parsed
		for _, line := range block.lines {
			if err := r.add(ctx, line); err != nil {
				return err
			}
		}
		r.read = block.end
	}
}

// next returns the next block; nil if there are no more. It flushes the batch
// before it waits for input.
func (r *batchRun[T, R]) next(ctx context.Context, blocks <-chan *block[T]) (*block[T], error) {
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
func (r *batchRun[T, R]) add(ctx context.Context, line parsedLine[T]) error {
	r.lines = append(r.lines, Line[T, R]{Number: line.number, Text: line.text, Item: line.item, Problem: line.problem})
	if line.item != nil {
		r.batch = append(r.batch, *line.item)
	}
	if len(r.lines) < batchSize {
		return nil
	}
	return r.flush(ctx)
}

// flush handles the current batch.
func (r *batchRun[T, R]) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var results []R
	if len(r.batch) > 0 {
		var err error
		if results, err = r.Do(ctx, r.batch); err != nil {
			return err
		}
		if len(results) != len(r.batch) {
			return fmt.Errorf("%d results for %d lines", len(results), len(r.batch))
		}
	}
	for i := range r.lines {
		if r.lines[i].Item != nil {
			r.lines[i].Result, results = results[0], results[1:]
		}
	}
	err := r.Done(r.lines, r.read)
	clear(r.lines)
	clear(r.batch)
	r.lines, r.batch = r.lines[:0], r.batch[:0]
	return err
}

package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"merchantorders/internal/order"
)

// MaxLineLength is the longest line that Import reads, in bytes without the
// line end. A longer line is invalid.
const MaxLineLength = 4 << 20

// batchSize is the maximum number of lines in a batch. SQLite imports it in two full
// transactions (sqldb.Dialect.MaxImportOrders).
const batchSize = 2 * 3 * 64

// ImportFunc imports a batch of orders and returns a result for each, in their
// order, as order.Service.Import does. It must not retain the batch.
type ImportFunc func(ctx context.Context, batch []order.Incoming) ([]order.ImportResult, error)

// Options of an import. Import calls the functions from its own goroutine. Each
// may be nil.
type Options struct {
	// Refused receives every conflicting and every invalid line, in the order of
	// the input. The first line is 1. text is the line as it came, without the line
	// end, and valid until the call returns; nil if it is longer than MaxLineLength.
	Refused func(line int, text []byte, reason string)
	// Progress receives the number of bytes of the input that are processed.
	Progress func(bytes int64)
}

// Counts are the results of an import, in lines.
type Counts struct {
	Created     int // new orders
	Unchanged   int // orders that exist with the same content
	Conflicting int // lines whose reference or legacy id belongs to other content
	Invalid     int // lines that are not a valid order document
}

// Import reads order documents, one a line, and imports them in batches, in the
// order of the input. It ignores blank lines and continues after conflicting
// and invalid lines. It stops at an error of the reader or of importBatch, and
// when ctx ends. The counts are valid also after an error: they cover the
// batches that were imported.
//
// Import does not wait for a full batch: when the input blocks, it imports the
// lines that it has read. The input may be a pipe with a slow writer.
//
// Import reads ahead. After an error, a Read of r may still be running when it
// returns.
func Import(ctx context.Context, r io.Reader, importBatch ImportFunc, opts Options) (Counts, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines, blocks := newLineReader(r), make(chan *block, readAhead)
	go lines.sendTo(ctx, blocks)
	i := importer{importBatch: importBatch, opts: opts}
	err := i.run(ctx, blocks)
	if err == nil && !errors.Is(lines.err, io.EOF) {
		err = lines.err
	}
	return i.counts, err
}

// importer is the last stage of an import: it gathers batches and imports them.
type importer struct {
	importBatch ImportFunc
	opts        Options
	counts      Counts

	lines    []parsedLine     // of the current batch
	batch    []order.Incoming // the valid ones of lines
	read     int64            // bytes of the input up to the end of the last block
	reported int64            // the last value given to Progress
}

// run imports the lines of the blocks until there are no more.
func (i *importer) run(ctx context.Context, blocks <-chan *block) error {
	for {
		block, err := i.next(ctx, blocks)
		if err != nil {
			return err
		}
		if block == nil {
			return i.flush(ctx)
		}
		<-block.parsed
		for _, line := range block.lines {
			if err := i.add(ctx, line); err != nil {
				return err
			}
		}
		i.read = block.end
	}
}

// next returns the next block; nil if there are no more. It flushes the batch
// before it waits for input.
func (i *importer) next(ctx context.Context, blocks <-chan *block) (*block, error) {
	select {
	case next := <-blocks:
		return next, nil
	default:
	}
	if err := i.flush(ctx); err != nil {
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
func (i *importer) add(ctx context.Context, line parsedLine) error {
	i.lines = append(i.lines, line)
	if line.incoming != nil {
		i.batch = append(i.batch, *line.incoming)
	}
	if len(i.lines) < batchSize {
		return nil
	}
	return i.flush(ctx)
}

// flush imports the current batch and counts the results.
func (i *importer) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var results []order.ImportResult
	if len(i.batch) > 0 {
		var err error
		if results, err = i.importBatch(ctx, i.batch); err != nil {
			return fmt.Errorf("import orders: %w", err)
		}
		if len(results) != len(i.batch) {
			return fmt.Errorf("import orders: %d results for %d orders", len(results), len(i.batch))
		}
	}
	for _, line := range i.lines {
		result := order.ImportResult{Status: order.Invalid, Reason: line.problem}
		if line.incoming != nil {
			result, results = results[0], results[1:]
		}
		i.count(line, result)
	}
	clear(i.lines)
	clear(i.batch)
	i.lines, i.batch = i.lines[:0], i.batch[:0]
	if i.opts.Progress != nil && i.read > i.reported {
		i.reported = i.read
		i.opts.Progress(i.read)
	}
	return nil
}

// count counts a result and reports a refused line.
func (i *importer) count(line parsedLine, result order.ImportResult) {
	switch result.Status {
	case order.Created:
		i.counts.Created++
		return
	case order.Unchanged:
		i.counts.Unchanged++
		return
	case order.Conflict:
		i.counts.Conflicting++
	default:
		i.counts.Invalid++
	}
	if i.opts.Refused != nil {
		i.opts.Refused(line.number, line.text, result.Reason)
	}
}

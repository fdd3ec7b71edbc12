package ingest

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"merchantorders/internal/order"
)

// MaxLineLength is the longest line that Import reads, in bytes without what
// ends it. A longer one is invalid.
const MaxLineLength = 4 << 20

// batchSize is how many lines' orders are added together at most.
const batchSize = 500

// AddFunc takes in a batch of orders and returns an outcome for each, in their
// order; order.Service.Import is one. The batch is used again after it returns.
type AddFunc func(ctx context.Context, batch []order.Incoming) ([]order.ImportResult, error)

// Options of an import. The functions are called by the goroutine that called
// Import; each may be nil.
type Options struct {
	// Refused is told of every conflicting and every invalid line, in the order
	// of the lines, which are counted from 1.
	Refused func(line int, reason string)
	// Progress is told how many bytes of the input are done with.
	Progress func(bytes int64)
}

// Counts says what became of the lines of an import.
type Counts struct {
	Created     int // orders that are new
	Unchanged   int // orders that were there with the same content
	Conflicting int // lines whose reference or number other content has taken
	Invalid     int // lines that are no valid order document
}

// Import reads order documents, one a line, and hands them to add in batches,
// in their order. Blank lines are passed over. A line that is refused does not
// stop it; an error of the reader or of add does, and the end of ctx. The
// counts are good up to there, and what they count has been added.
//
// While the input has no more to read, nothing that was read is held back: what
// there is of a batch is added. The input may therefore be a pipe that somebody
// else writes to now and then.
//
// Lines are read ahead. When Import returns with an error, a Read of r may
// still be under way.
func Import(ctx context.Context, r io.Reader, add AddFunc, opts Options) (Counts, error) {
	ctx, cancel := context.WithCancel(ctx)
	var parsers sync.WaitGroup
	defer parsers.Wait()
	defer cancel()

	queue := newQueue()
	go queue.fill(ctx, newLineReader(r))
	for range runtime.GOMAXPROCS(0) {
		parsers.Go(func() { queue.parse(ctx) })
	}
	i := importer{add: add, opts: opts}
	err := i.run(ctx, queue)
	return i.counts, err
}

// importer is the writing end of an import.
type importer struct {
	add    AddFunc
	opts   Options
	counts Counts

	lines []parsedLine     // of the batch being gathered
	batch []order.Incoming // the orders among them
	read  int64            // bytes of the input up to the last block taken in full
	told  int64            // the last progress reported
}

// run adds what the queue delivers until its end.
func (i *importer) run(ctx context.Context, queue *queue) error {
	for {
		block, err := i.next(ctx, queue)
		if err != nil {
			return err
		}
		if block == nil {
			if err := i.flush(ctx); err != nil {
				return err
			}
			return queue.err
		}
		for _, line := range block.lines {
			if err := i.put(ctx, line); err != nil {
				return err
			}
		}
		i.read = block.end
		queue.recycle(block)
	}
}

// next returns the next block, parsed, or nil at the end of the queue. It adds
// what has been gathered before it waits for input.
func (i *importer) next(ctx context.Context, queue *queue) (*block, error) {
	var next *block
	select {
	case next = <-queue.ordered:
	default:
		if err := i.flush(ctx); err != nil {
			return nil, err
		}
		select {
		case next = <-queue.ordered:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if next == nil {
		return nil, nil
	}
	select {
	case <-next.parsed:
		return next, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// put takes a line into the batch and adds the batch when it is full.
func (i *importer) put(ctx context.Context, line parsedLine) error {
	i.lines = append(i.lines, line)
	if line.incoming != nil {
		i.batch = append(i.batch, *line.incoming)
	}
	if len(i.lines) < batchSize {
		return nil
	}
	return i.flush(ctx)
}

// flush adds what has been gathered and reports what became of it.
func (i *importer) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var outcomes []order.ImportResult
	if len(i.batch) > 0 {
		var err error
		if outcomes, err = i.add(ctx, i.batch); err != nil {
			return fmt.Errorf("add orders: %w", err)
		}
		if len(outcomes) != len(i.batch) {
			return fmt.Errorf("add orders: %d outcomes of %d orders", len(outcomes), len(i.batch))
		}
	}
	for _, line := range i.lines {
		outcome := order.ImportResult{Status: order.Invalid, Reason: line.problem}
		if line.incoming != nil {
			outcome, outcomes = outcomes[0], outcomes[1:]
		}
		i.count(line.number, outcome)
	}
	clear(i.lines)
	clear(i.batch)
	i.lines, i.batch = i.lines[:0], i.batch[:0]
	if i.opts.Progress != nil && i.read > i.told {
		i.told = i.read
		i.opts.Progress(i.read)
	}
	return nil
}

// count counts an outcome and reports a refusal.
func (i *importer) count(line int, outcome order.ImportResult) {
	switch outcome.Status {
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
		i.opts.Refused(line, outcome.Reason)
	}
}

package ingest

import (
	"context"
	"fmt"
	"io"

	"merchantorders/internal/order"
)

// MaxLineLength is the longest line that Import reads, in bytes without the
// line end. A longer line is invalid.
const MaxLineLength = 4 << 20

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
	// Imported receives all lines of each batch, in the order of the input. The
	// result of an invalid line is set too. An error ends the import.
	Imported func(lines []ImportedLine) error
}

// ImportedLine is a line of an import.
type ImportedLine = Line[order.Incoming, order.ImportResult]

// Counts are the results of an import, in lines.
type Counts struct {
	Created     int // new orders
	Unchanged   int // orders that exist with the same content
	Conflicting int // lines whose reference or legacy id belongs to other content
	Invalid     int // lines that are not a valid order document
}

// Import reads order documents, one a line, and imports them as Batches.Run does. The
// counts are valid also after an error: they cover the batches that were imported.
func Import(ctx context.Context, r io.Reader, importBatch ImportFunc, opts Options) (Counts, error) {
	var counts Counts
	var reported int64 // the last value given to Progress
	err := Batches[order.Incoming, order.ImportResult]{
		Parse: func(_ int, text []byte) (order.Incoming, error) { return Parse(text) },
		Do: func(ctx context.Context, batch []order.Incoming) ([]order.ImportResult, error) {
			results, err := importBatch(ctx, batch)
			if err != nil {
				err = fmt.Errorf("import orders: %w", err)
			}
			return results, err
		},
		Done: func(lines []ImportedLine, read int64) error {
			for i := range lines {
				counts.add(&lines[i], opts.Refused)
			}
			if opts.Progress != nil && read > reported {
				reported = read
				opts.Progress(read)
			}
			if opts.Imported == nil {
				return nil
			}
			return opts.Imported(lines)
		},
	}.Run(ctx, r)
	return counts, err
}

// add counts the result of a line and reports a refused one.
func (c *Counts) add(line *ImportedLine, refused func(int, []byte, string)) {
	if line.Item == nil {
		line.Result = order.ImportResult{Status: order.Invalid, Reason: line.Problem}
	}
	switch line.Result.Status {
	case order.Created:
		c.Created++
		return
	case order.Unchanged:
		c.Unchanged++
		return
	case order.Conflict:
		c.Conflicting++
	default:
		c.Invalid++
	}
	if refused != nil {
		refused(line.Number, line.Text, line.Result.Reason)
	}
}

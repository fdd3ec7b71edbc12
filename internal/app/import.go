package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
)

type importCommand struct {
	alwaysValid
	File string `arg:"" name:"file" help:"File of order documents, one JSON object a line. - is standard input."`
}

func (c *importCommand) run(ctx context.Context, p *process) error {
	input, size, err := p.input(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = input.Close() }()
	return p.withDatabase(ctx, existing, func(b *backend) error { return p.importFrom(ctx, b.orders, input, size) })
}

// input opens a file, or standard input for "-", and returns its size in bytes;
// -1 if it is unknown.
func (p *process) input(file string) (io.ReadCloser, int64, error) {
	if file == "-" {
		return io.NopCloser(p.stdin), -1, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", file)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	if !info.Mode().IsRegular() {
		return f, -1, nil
	}
	return f, info.Size(), nil
}

func (p *process) importFrom(ctx context.Context, orders *order.Service, input io.Reader, size int64) error {
	bar := p.bar("importing", size, true)
	// Finish a batch after ctx ends, so that the counts are correct.
	importBatch := func(ctx context.Context, batch []order.Incoming) ([]order.ImportResult, error) {
		return orders.Import(context.WithoutCancel(ctx), batch, order.Source{})
	}
	counts, err := ingest.Import(ctx, input, importBatch, ingest.Options{
		Refused: func(line int, reason string) {
			_ = bar.Clear()
			_, _ = fmt.Fprintf(p.stderr, "line %d: %s\n", line, oneLine(reason))
		},
		Progress: func(read int64) { _ = bar.Set64(read) },
	})
	_ = bar.Clear()
	printErr := p.print("created %d, unchanged %d, conflicting %d, invalid %d",
		counts.Created, counts.Unchanged, counts.Conflicting, counts.Invalid)
	refused := counts.Conflicting + counts.Invalid
	switch {
	case ctx.Err() != nil:
		return errors.New("stopped before the end of the input; run the command again to import the rest")
	case err != nil:
		return err
	case refused == 1:
		return errors.New("1 line was refused")
	case refused > 1:
		return fmt.Errorf("%d lines were refused", refused)
	}
	return printErr
}

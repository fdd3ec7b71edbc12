package tracing

import (
	"context"
	"io/fs"

	"go.opentelemetry.io/otel/trace"

	"merchantorders/internal/order"
)

// Files wraps the storage of invoice files: each call of a request has a span.
func (t *Tracing) Files(next order.Files) order.Files { return files{next, t} }

type files struct {
	order.Files
	t *Tracing
}

// call begins the span of a call of the storage. It has no path: that contains the
// reference of an order.
func (t *Tracing) call(ctx context.Context, name string) (context.Context, trace.Span) {
	return t.start(ctx, "storage "+name, trace.SpanKindClient)
}

// Stage implements order.Files.
func (f files) Stage(ctx context.Context) (order.StagedFile, error) {
	ctx, span := f.t.call(ctx, "stage")
	staged, err := f.Files.Stage(ctx)
	endCall(span, err, "storage", fs.ErrNotExist)
	if err != nil {
		return nil, err
	}
	return stagedFile{staged, f.t}, nil
}

// Open implements order.Files.
func (f files) Open(ctx context.Context, path string) (order.File, error) {
	ctx, span := f.t.call(ctx, "open")
	file, err := f.Files.Open(ctx, path)
	endCall(span, err, "storage", fs.ErrNotExist)
	return file, err
}

// Remove implements order.Files.
func (f files) Remove(ctx context.Context, path string) error {
	ctx, span := f.t.call(ctx, "remove")
	err := f.Files.Remove(ctx, path)
	endCall(span, err, "storage", fs.ErrNotExist)
	return err
}

type stagedFile struct {
	order.StagedFile
	t *Tracing
}

// Commit implements order.StagedFile.
func (s stagedFile) Commit(ctx context.Context, path string) error {
	ctx, span := s.t.call(ctx, "commit")
	err := s.StagedFile.Commit(ctx, path)
	endCall(span, err, "storage", fs.ErrNotExist)
	return err
}

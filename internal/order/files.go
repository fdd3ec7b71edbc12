package order

import (
	"context"
	"io"
)

// Files stores the bytes of invoice files under the paths of InvoicePath.
type Files interface {
	// Stage creates a file that is not visible under any path yet.
	Stage(ctx context.Context) (StagedFile, error)
	// Open returns a stored file. The error is fs.ErrNotExist if there is none.
	Open(ctx context.Context, path string) (File, error)
	// Remove deletes a stored file. It does nothing if there is none.
	Remove(ctx context.Context, path string) error
	// Check returns an error if files cannot be stored now.
	Check(ctx context.Context) error
}

// StagedFile is a file being uploaded, not yet visible.
type StagedFile interface {
	io.Writer
	// Content returns a reader of the bytes written so far.
	Content() (*io.SectionReader, error)
	// Commit makes the bytes written so far durable under a path: when it
	// returns nil they survive a power cut. After an error nothing is stored,
	// except for ErrOutcomeUnknown: then the file may exist, now or later.
	Commit(ctx context.Context, path string) error
	// Abort removes what was not committed. It is safe to call at any time.
	Abort()
}

// File is a stored file open for reading.
type File interface {
	io.ReadSeekCloser
}

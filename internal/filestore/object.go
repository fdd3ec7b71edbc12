package filestore

import (
	"context"
	"io"
)

// Object is one large object of a bucket, written and read in one pass.
type Object interface {
	// Exists reports whether the object exists.
	Exists(ctx context.Context) (bool, error)
	// Write creates the object with what fn writes. The object appears complete, or not at all:
	// not after an error of fn, nor if the bucket keeps something else. It replaces none: the
	// error is fs.ErrExist.
	Write(ctx context.Context, fn func(io.Writer) error) error
	// Open opens the object for reading, or returns fs.ErrNotExist.
	Open(ctx context.Context) (io.ReadCloser, error)
}

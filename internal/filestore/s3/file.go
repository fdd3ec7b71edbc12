package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"time"

	"github.com/minio/minio-go/v7"

	"merchantorders/internal/filestore"
)

// errNoResponse means that a request took longer than requestTimeout.
var errNoResponse = errors.New("S3 does not respond")

// file is a stored file being read. The reader may be slow; each read from S3
// must finish within requestTimeout.
type file struct {
	*minio.Object
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// withTimeout calls fn, which waits for S3. It cancels the file's context, and
// returns errNoResponse, if that takes longer than requestTimeout.
func (f *file) withTimeout(fn func() error) error {
	timer := time.AfterFunc(requestTimeout, func() { f.cancel(errNoResponse) })
	defer timer.Stop()
	err := fn()
	if err != nil && errors.Is(context.Cause(f.ctx), errNoResponse) {
		return errNoResponse
	}
	return err
}

// Read implements io.Reader.
func (f *file) Read(p []byte) (int, error) {
	n := 0
	err := f.withTimeout(func() (err error) {
		n, err = f.Object.Read(p)
		return err
	})
	if err != nil && !errors.Is(err, io.EOF) {
		err = storeError("read a stored file", err)
	}
	return n, err
}

// Close implements io.Closer.
func (f *file) Close() error {
	err := f.Object.Close()
	f.cancel(nil)
	return err
}

// storeError is filestore.Error for errors of minio. The path is part of the
// request's URL and may be part of the server's message, so it drops both.
func storeError(action string, err error) error {
	var urlErr *url.Error
	var response minio.ErrorResponse
	switch {
	case errors.As(err, &urlErr):
		err = urlErr.Err
	case errors.As(err, &response) && response.Code == minio.NoSuchKey:
		err = fs.ErrNotExist // removed since it was opened
	case errors.As(err, &response):
		return fmt.Errorf("%s: S3 responds %s (status %d)", action, response.Code, response.StatusCode)
	}
	return filestore.Error(action, err)
}

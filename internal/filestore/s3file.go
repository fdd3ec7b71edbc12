package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"time"

	"github.com/minio/minio-go/v7"
)

// errNoAnswer says that S3 was given up.
var errNoAnswer = errors.New("S3 does not answer")

// s3File is a stored file being read. A reader may take its time, S3 may not:
// each piece has to come within s3AnswerLimit.
type s3File struct {
	*minio.Object
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// bounded does what waits for S3, and ends the file when that takes too long.
func (f *s3File) bounded(do func() error) error {
	timer := time.AfterFunc(s3AnswerLimit, func() { f.cancel(errNoAnswer) })
	defer timer.Stop()
	err := do()
	if err != nil && context.Cause(f.ctx) == errNoAnswer {
		return errNoAnswer
	}
	return err
}

// Read implements io.Reader.
func (f *s3File) Read(p []byte) (int, error) {
	n := 0
	err := f.bounded(func() (err error) {
		n, err = f.Object.Read(p)
		return err
	})
	if err != nil && err != io.EOF {
		err = s3Fault("read a stored file", err)
	}
	return n, err
}

// Close implements io.Closer.
func (f *s3File) Close() error {
	err := f.Object.Close()
	f.cancel(nil)
	return err
}

// s3Fault says what failed and why, without the path, which stands in the
// address that was asked for and may stand in the server's own words.
func s3Fault(doing string, err error) error {
	var address *url.Error
	var answer minio.ErrorResponse
	switch {
	case errors.As(err, &address):
		err = address.Err
	case errors.As(err, &answer) && answer.Code == minio.NoSuchKey:
		err = fs.ErrNotExist // removed since it was opened
	case errors.As(err, &answer):
		return fmt.Errorf("%s: S3 answers %s (status %d)", doing, answer.Code, answer.StatusCode)
	}
	return fault(doing, err)
}

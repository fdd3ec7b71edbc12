// Package s3 stores invoice files in a bucket of an S3 server.
package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/order"
)

// Limits of requests, so that a server that hangs cannot block a caller.
const (
	// dialTimeout bounds the TCP connect, and again the TLS handshake.
	dialTimeout = 5 * time.Second
	// headerTimeout bounds the wait for the response headers of one attempt.
	headerTimeout = 6 * time.Second
	// commitTimeout bounds a commit with all its attempts. It leaves time for
	// the database within order.CommitTimeout.
	commitTimeout = 15 * time.Second
	// requestTimeout bounds every other request, and each read of a file.
	requestTimeout = 10 * time.Second
	// idleTimeout is how long an idle connection stays open.
	idleTimeout = 30 * time.Second
	// maxIdleConns is the number of idle connections that stay open.
	maxIdleConns = 64
	// maxAttempts is how often a request is sent before it fails.
	maxAttempts = 3
)

// Store is order.Files on a bucket. It is safe for concurrent use. Staged files
// are on the local disk, since nothing of an upload may be visible in the
// bucket before its commit.
type Store struct {
	*disk.Staging
	client     *minio.Client
	bucket     string
	overwrites bool
}

// Overwrites reports whether a second object has taken the place of the first when the bucket
// was opened: the server ignores If-None-Match.
func (s *Store) Overwrites() bool { return s.overwrites }

var _ order.Files = (*Store)(nil)

// commit stores a staged file in the bucket.
func (s *Store) commit(ctx context.Context, staged *disk.StagedFile, path string) error {
	const action = "commit a staged file"
	content, err := staged.Content()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	err = s.put(ctx, path, staged.ID(), content, content.Size())
	if err == nil {
		return s.verify(ctx, path, staged.ID(), content)
	}
	status := minio.ToErrorResponse(err).StatusCode
	switch {
	case status == http.StatusPreconditionFailed:
		return s.verify(ctx, path, staged.ID(), content)
	case status >= 400 && status < 500 && status != http.StatusConflict:
		return storeError(action, err)
	}
	// The object may be there, or appear later: no response arrived, or the
	// response reports a server error or an earlier attempt that still runs.
	return fmt.Errorf("%w: %w", order.ErrOutcomeUnknown, storeError(action, err))
}

// uploadIDKey is the object metadata that holds the ID of the staged file.
const uploadIDKey = "Upload-Id"

// put stores an object with the metadata uploadID. It fails with status 412 if
// there is an object with this path.
func (s *Store) put(ctx context.Context, path, uploadID string, content io.Reader, size int64) error {
	mediaType, _ := order.ContentType(path)
	options := minio.PutObjectOptions{
		ContentType: mediaType, DisableMultipart: true, SendContentMd5: true,
		UserMetadata: map[string]string{uploadIDKey: uploadID},
	}
	options.SetMatchETagExcept("*") // If-None-Match: *
	_, err := s.client.PutObject(ctx, s.bucket, path, content, size, options)
	return err
}

// verify returns nil if the object with a path is that of an upload, with its content. A
// response that was lost may have been a success, and one that says so may come from a server
// that has kept something else: then verify removes the object. It returns fs.ErrExist if the
// object is another file.
func (s *Store) verify(ctx context.Context, path, uploadID string, content *io.SectionReader) error {
	object, err := s.client.StatObject(ctx, s.bucket, path, minio.StatObjectOptions{})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", order.ErrOutcomeUnknown, storeError("read the metadata of a stored file", err))
	case object.UserMetadata[uploadIDKey] != uploadID:
		return filestore.Error("commit a staged file", fs.ErrExist)
	}
	same, err := s.same(ctx, path, object, content)
	if err == nil && !same {
		err = fmt.Errorf("the bucket has kept %d bytes that are not the %d bytes of the file", object.Size, content.Size())
	}
	if err != nil {
		return errors.Join(err, s.Remove(ctx, path))
	}
	return nil
}

// same reports whether an object has a content. Its entity tag is the MD5 of what is stored,
// or else, as with some encryption, the object is read.
func (s *Store) same(ctx context.Context, path string, object minio.ObjectInfo, content *io.SectionReader) (bool, error) {
	if object.Size != content.Size() {
		return false, nil
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	want := md5.New()
	if _, err := io.Copy(want, content); err != nil {
		return false, err
	}
	if strings.Trim(object.ETag, `"`) == hex.EncodeToString(want.Sum(nil)) {
		return true, nil
	}
	file, err := s.Open(ctx, path)
	if err != nil {
		return false, err
	}
	return hasSum(file, want.Sum(nil))
}

// hasSum reads and closes a content, and reports whether it has an MD5.
func hasSum(content io.ReadCloser, want []byte) (bool, error) {
	defer func() { _ = content.Close() }()
	got := md5.New()
	_, err := io.Copy(got, content)
	return err == nil && bytes.Equal(got.Sum(nil), want), err
}

// Open implements order.Files.
func (s *Store) Open(ctx context.Context, path string) (order.File, error) {
	if !filestore.ValidPath(path) {
		return nil, filestore.Error(openAction, fs.ErrNotExist)
	}
	return s.open(ctx, path)
}

const openAction = "open a stored file"

// open opens an object.
func (s *Store) open(ctx context.Context, key string) (order.File, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	object, err := s.client.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		cancel(nil)
		return nil, storeError(openAction, err)
	}
	opened := &file{Object: object, ctx: ctx, cancel: cancel}
	// GetObject sends no request. Stat does, and finds out whether there is a file.
	if err := opened.withTimeout(func() error { _, err := object.Stat(); return err }); err != nil {
		_ = opened.Close()
		if minio.ToErrorResponse(err).StatusCode == http.StatusNotFound {
			err = fs.ErrNotExist
		}
		return nil, storeError(openAction, err)
	}
	return opened, nil
}

// Remove implements order.Files.
func (s *Store) Remove(ctx context.Context, path string) error {
	const action = "remove a stored file"
	if !filestore.ValidPath(path) {
		return filestore.Error(action, fs.ErrInvalid)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := s.client.RemoveObject(ctx, s.bucket, path, minio.RemoveObjectOptions{}); err != nil {
		return storeError(action, err)
	}
	return nil
}

// Check implements order.Files: the bucket must exist and the server respond,
// and the staging directory must accept files.
func (s *Store) Check(ctx context.Context) error {
	requestCtx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	exists, err := s.client.BucketExists(requestCtx, s.bucket)
	if err == nil && !exists {
		err = errors.New("there is no such bucket")
	}
	if err != nil {
		return storeError("bucket "+s.bucket, err)
	}
	return s.Staging.Check(ctx)
}

// Each calls fn with the path of every stored file until fn returns an error,
// and returns that error. Files stored or removed meanwhile may be included or
// not.
func (s *Store) Each(ctx context.Context, fn func(path string) error) error {
	// The listing continues in the background until its context ends.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for object := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Recursive: true}) {
		if object.Err != nil {
			return storeError("list the stored files", object.Err)
		}
		// Some servers also list folders. They are not files.
		if strings.HasSuffix(object.Key, "/") || strings.HasPrefix(object.Key, filestore.StagingDir+"/") || filestore.IsProbe(object.Key) {
			continue
		}
		if err := fn(object.Key); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// errNoResponse means that a request took longer than requestTimeout.
var errNoResponse = errors.New("S3 does not respond")

// errClosed means that the server ended a connection before its response.
var errClosed = errors.New("the server closed the connection without a response")

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
	case errors.As(err, &urlErr) && strings.Contains(urlErr.Err.Error(), urlErr.URL):
		err = errClosed // in the words of the library
	case errors.As(err, &urlErr):
		err = urlErr.Err
	case errors.As(err, &response) && response.Code == minio.NoSuchKey:
		err = fs.ErrNotExist // removed since it was opened
	case errors.As(err, &response):
		return fmt.Errorf("%s: %w", action, reason(response))
	}
	return filestore.Error(action, err)
}

package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"time"

	"github.com/minio/minio-go/v7"

	"merchantorders/internal/order"
)

// Limits of requests to S3. A server that hangs costs a request no more.
const (
	// s3DialTimeout bounds the making of a connection, and as much again its
	// encryption.
	s3DialTimeout = 5 * time.Second
	// s3HeaderTimeout bounds the wait for the head of an answer to one try.
	s3HeaderTimeout = 6 * time.Second
	// s3PublishLimit bounds the whole of a publication, all its tries. It leaves
	// to the database the rest of order.CommitTimeout.
	s3PublishLimit = 15 * time.Second
	// s3AnswerLimit bounds every other request, and the wait for more of a file
	// that is being read.
	s3AnswerLimit = 10 * time.Second
	// s3IdleTimeout is how long a connection is kept that has nothing to do,
	// s3Connections how many of them.
	s3IdleTimeout = 30 * time.Second
	s3Connections = 64
	// s3Retries is how often a request is sent before it has failed.
	s3Retries = 3
)

// S3 keeps files in a bucket. Drafts lie in a local folder until they are
// published, since nothing of an upload may be seen in the bucket before.
type S3 struct {
	client *minio.Client
	bucket string
	spool  *Disk
}

var _ order.Files = (*S3)(nil)

// Close lets go of what is open locally.
func (s *S3) Close() error { return s.spool.Close() }

// RemoveStagedFiles removes the drafts last written before a moment.
func (s *S3) RemoveStagedFiles(before time.Time) error { return s.spool.RemoveStagedFiles(before) }

// s3Draft is a local draft that is published to the bucket.
type s3Draft struct {
	*draft
	store *S3
}

// Stage implements order.Files.
func (s *S3) Stage(ctx context.Context) (order.StagedFile, error) {
	local, err := s.spool.openDraft(ctx)
	if err != nil {
		return nil, err
	}
	return &s3Draft{draft: local, store: s}, nil
}

// Commit implements order.StagedFile. An object that is there already stays as it
// is, and the error is fs.ErrExist.
func (d *s3Draft) Commit(ctx context.Context, name string) error {
	defer d.Abort()
	if err := d.publishable(ctx, name); err != nil {
		return err
	}
	size, err := d.file.Seek(0, io.SeekEnd)
	if err != nil {
		return fault("read a draft", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s3PublishLimit)
	defer cancel()
	mark := path.Base(d.name)
	err = d.store.put(ctx, name, mark, io.NewSectionReader(d.file, 0, size), size)
	answer := minio.ToErrorResponse(err)
	switch {
	case err == nil:
		return nil
	case answer.StatusCode == http.StatusPreconditionFailed:
		return d.store.whose(ctx, name, mark)
	case answer.StatusCode >= 400 && answer.StatusCode < 500 && answer.StatusCode != http.StatusConflict:
		// An answer that refuses it is certain. No answer is not, nor one that
		// tells of a fault or of another try that is still under way.
		return s3Fault("publish a draft", err)
	}
	return fmt.Errorf("%w: %w", order.ErrOutcomeUnknown, s3Fault("publish a draft", err))
}

// markName is the metadata of an object that holds a mark.
const markName = "Draft"

// put stores an object unless there is one of that name. The mark, which no
// other object has, goes with it.
func (s *S3) put(ctx context.Context, name, mark string, content io.Reader, size int64) error {
	mediaType, _ := order.ContentType(name)
	options := minio.PutObjectOptions{
		ContentType: mediaType, DisableMultipart: true, SendContentMd5: true,
		UserMetadata: map[string]string{markName: mark},
	}
	options.SetMatchETagExcept("*") // only where there is none
	_, err := s.client.PutObject(ctx, s.bucket, name, content, size, options)
	return err
}

// whose tells what it means that there is an object already. It is the very one
// that was to be stored, and all is well, when an earlier try has stored it and
// its answer was lost on the way.
func (s *S3) whose(ctx context.Context, name, mark string) error {
	there, err := s.client.StatObject(ctx, s.bucket, name, minio.StatObjectOptions{})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", order.ErrOutcomeUnknown, s3Fault("look at a published file", err))
	case there.UserMetadata[markName] != mark:
		return fault("publish a draft", fs.ErrExist)
	}
	return nil
}

// Open implements order.Files.
func (s *S3) Open(ctx context.Context, name string) (order.File, error) {
	if !validPath(name) {
		return nil, fault("open a stored file", fs.ErrNotExist)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	object, err := s.client.GetObject(ctx, s.bucket, name, minio.GetObjectOptions{})
	if err != nil {
		cancel(nil)
		return nil, s3Fault("open a stored file", err)
	}
	file := &s3File{Object: object, ctx: ctx, cancel: cancel}
	// Nothing is asked for until it is read; the caller must know now.
	if err := file.bounded(func() error { _, err := object.Stat(); return err }); err != nil {
		_ = file.Close()
		if minio.ToErrorResponse(err).StatusCode == http.StatusNotFound {
			err = fs.ErrNotExist
		}
		return nil, s3Fault("open a stored file", err)
	}
	return file, nil
}

// Remove implements order.Files.
func (s *S3) Remove(ctx context.Context, name string) error {
	if !validPath(name) {
		return fault("remove a stored file", fs.ErrInvalid)
	}
	ctx, cancel := context.WithTimeout(ctx, s3AnswerLimit)
	defer cancel()
	if err := s.client.RemoveObject(ctx, s.bucket, name, minio.RemoveObjectOptions{}); err != nil {
		return s3Fault("remove a stored file", err)
	}
	return nil
}

// Normalize implements order.Files: the bucket must be there and answer, and the
// local folder must take drafts.
func (s *S3) Check(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, s3AnswerLimit)
	defer cancel()
	there, err := s.client.BucketExists(asking, s.bucket)
	if err == nil && !there {
		err = errors.New("there is no such bucket")
	}
	if err != nil {
		return s3Fault("bucket "+s.bucket, err)
	}
	return s.spool.Check(ctx)
}

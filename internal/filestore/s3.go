package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"merchantorders/internal/order"
)

// Limits of requests to S3. The whole of a publication is bounded by its
// context.
const (
	// s3HeaderTimeout bounds the wait for the head of an answer.
	s3HeaderTimeout = 15 * time.Second
	// s3Connections are kept open for the next requests.
	s3Connections = 64
	// s3Retries is how often a request is sent before it has failed.
	s3Retries = 3
)

// Bucket names a bucket of an S3 server.
type Bucket struct {
	Name     string
	Region   string
	Endpoint string // http:// or https:// and a host; empty: Amazon's of the region
}

// S3 keeps files in a bucket. Drafts lie in a local folder until they are
// published, since nothing of an upload may be seen in the bucket before.
type S3 struct {
	client *minio.Client
	bucket string
	spool  *Disk
}

var _ order.Files = (*S3)(nil)

// OpenS3 opens a bucket, which must be there, with the credentials of the
// standard AWS environment variables. Drafts lie below spoolDir.
func OpenS3(ctx context.Context, bucket Bucket, spoolDir string) (*S3, error) {
	endpoint := &url.URL{Scheme: "https", Host: "s3." + bucket.Region + ".amazonaws.com"}
	if bucket.Endpoint != "" {
		var err error
		if endpoint, err = url.Parse(bucket.Endpoint); err != nil {
			return nil, errors.New("the endpoint is no address")
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = s3HeaderTimeout
	transport.MaxIdleConnsPerHost = s3Connections
	// The bytes of a file are what they are; nothing is unpacked on the way.
	transport.DisableCompression = true
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds:      credentials.NewEnvAWS(),
		Secure:     endpoint.Scheme == "https",
		Region:     bucket.Region,
		Transport:  transport,
		MaxRetries: s3Retries,
	})
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", bucket.Name, err)
	}
	spool, err := OpenDisk(spoolDir)
	if err != nil {
		return nil, err
	}
	store := &S3{client: client, bucket: bucket.Name, spool: spool}
	if err := store.Check(ctx); err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	return store, nil
}

// Close lets go of what is open locally.
func (s *S3) Close() error { return s.spool.Close() }

// ClearDrafts removes the drafts last written before a moment.
func (s *S3) ClearDrafts(before time.Time) error { return s.spool.ClearDrafts(before) }

// s3Draft is a local draft that is published to the bucket.
type s3Draft struct {
	*draft
	store *S3
}

// Draft implements order.Files.
func (s *S3) Draft(ctx context.Context) (order.Draft, error) {
	local, err := s.spool.openDraft(ctx)
	if err != nil {
		return nil, err
	}
	return &s3Draft{draft: local, store: s}, nil
}

// Publish implements order.Draft. An object that is there already stays as it
// is, and the error is fs.ErrExist.
func (d *s3Draft) Publish(ctx context.Context, name string) error {
	defer d.Discard()
	if err := d.publishable(ctx, name); err != nil {
		return err
	}
	size, err := d.file.Seek(0, io.SeekEnd)
	if err != nil {
		return fault("read a draft", err)
	}
	content := io.NewSectionReader(d.file, 0, size)
	mediaType, _ := order.ContentType(name)
	options := minio.PutObjectOptions{ContentType: mediaType, DisableMultipart: true, SendContentMd5: true}
	options.SetMatchETagExcept("*") // only where there is none
	if _, err := d.store.client.PutObject(ctx, d.store.bucket, name, content, size, options); err != nil {
		return publishFault(err)
	}
	return nil
}

// publishFault says what became of an object that was not acknowledged: an
// answer that refuses it is certain, no answer is not.
func publishFault(err error) error {
	answer := minio.ToErrorResponse(err)
	switch {
	case answer.StatusCode == http.StatusPreconditionFailed:
		return fault("publish a draft", fs.ErrExist)
	case answer.StatusCode >= 400 && answer.StatusCode < 500:
		return fault("publish a draft", err)
	}
	return fmt.Errorf("%w: %w", order.ErrUncertain, fault("publish a draft", err))
}

// Open implements order.Files.
func (s *S3) Open(ctx context.Context, name string) (order.File, error) {
	if !validPath(name) {
		return nil, fault("open a stored file", fs.ErrNotExist)
	}
	object, err := s.client.GetObject(ctx, s.bucket, name, minio.GetObjectOptions{})
	if err != nil {
		return nil, fault("open a stored file", err)
	}
	// Nothing is asked for until it is read; the caller must know now.
	if _, err := object.Stat(); err != nil {
		_ = object.Close()
		if minio.ToErrorResponse(err).StatusCode == http.StatusNotFound {
			err = fs.ErrNotExist
		}
		return nil, fault("open a stored file", err)
	}
	return object, nil
}

// Remove implements order.Files.
func (s *S3) Remove(ctx context.Context, name string) error {
	if !validPath(name) {
		return fault("remove a stored file", fs.ErrInvalid)
	}
	if err := s.client.RemoveObject(ctx, s.bucket, name, minio.RemoveObjectOptions{}); err != nil {
		return fault("remove a stored file", err)
	}
	return nil
}

// Check implements order.Files: the bucket must be there and answer, and the
// local folder must take drafts.
func (s *S3) Check(ctx context.Context) error {
	there, err := s.client.BucketExists(ctx, s.bucket)
	if err != nil {
		return fmt.Errorf("bucket %s: %w", s.bucket, err)
	}
	if !there {
		return fmt.Errorf("bucket %s: there is no such bucket", s.bucket)
	}
	return s.spool.Check(ctx)
}

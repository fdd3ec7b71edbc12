package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/minio/minio-go/v7"

	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/disk"
)

// openTimeout bounds the test of the bucket when it is opened.
const openTimeout = 8 * time.Second

// Bucket names a bucket of an S3 server.
type Bucket struct {
	Name     string
	Region   string
	Endpoint string // http:// or https:// and a host; empty: Amazon's of the region
	// Credentials of the bucket. The zero value: those that Amazon's tools find, in the
	// environment, in shared files or from a role.
	Credentials Credentials
	// Reread returns the Credentials again, which may have changed; nil: they stay.
	Reread func() (Credentials, error)
	// Wrap wraps the transport of all requests; nil: not called.
	Wrap func(http.RoundTripper) http.RoundTripper
}

// Credentials are the credentials of an account.
type Credentials struct {
	AccessKeyID, SecretAccessKey, SessionToken string
}

// Open opens a bucket and tests that it can write, read and delete objects. Nothing can be
// staged before OpenStaging. The errors are for the operator, in one line.
func Open(ctx context.Context, bucket Bucket) (*Store, error) {
	client, err := newClient(bucket, headerTimeout, maxAttempts)
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", bucket.Name, err)
	}
	if _, err := client.GetCreds(); err != nil {
		return nil, fmt.Errorf("bucket %s: %w", bucket.Name, err)
	}
	store := &Store{Staging: new(disk.Staging), client: client, bucket: bucket.Name}
	if err := store.probe(ctx); err != nil {
		return nil, fmt.Errorf("bucket %s on %s %w", bucket.Name, client.EndpointURL().Host, err)
	}
	return store, nil
}

// OpenStaging opens the folder of staged files. It creates the folder if it does
// not exist. It is called at most once, before the store is used.
func (s *Store) OpenStaging(dir string) error {
	staging, err := disk.OpenStaging(dir, s.commit)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	s.Staging = staging
	return nil
}

// newClient returns a client of a bucket's server, with a bound on the wait for the headers of
// a response, and on the attempts of a request. It sends no request.
func newClient(bucket Bucket, headerTimeout time.Duration, attempts int) (*minio.Client, error) {
	endpoint := &url.URL{Scheme: "https", Host: "s3." + bucket.Region + ".amazonaws.com"}
	if bucket.Endpoint != "" {
		var err error
		if endpoint, err = url.Parse(bucket.Endpoint); err != nil {
			return nil, errors.New("the endpoint is not a valid URL")
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
	transport.TLSHandshakeTimeout = dialTimeout
	transport.ResponseHeaderTimeout = headerTimeout
	transport.IdleConnTimeout = idleTimeout
	transport.MaxIdleConnsPerHost = maxIdleConns
	// Return the stored bytes, never decompressed ones.
	transport.DisableCompression = true
	var wrapped http.RoundTripper = transport
	if bucket.Wrap != nil {
		wrapped = bucket.Wrap(transport)
	}
	return minio.New(endpoint.Host, &minio.Options{
		Creds:      newCredentials(bucket),
		Secure:     endpoint.Scheme == "https",
		Region:     bucket.Region,
		Transport:  wrapped,
		MaxRetries: attempts,
	})
}

// probe writes, reads and deletes an object where invoice files go, and tries to overwrite it.
func (s *Store) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	name, size := filestore.ProbePath(), int64(len(filestore.ProbeContent))
	content := io.NewSectionReader(bytes.NewReader(filestore.ProbeContent), 0, size)
	if err := s.put(ctx, name, path.Base(name), content, size); err != nil {
		return fmt.Errorf("cannot be written to: %w", explain(err))
	}
	s.overwrites = s.put(ctx, name, path.Base(name), bytes.NewReader(filestore.ProbeContent), size) == nil
	object, readErr := s.client.StatObject(ctx, s.bucket, name, minio.StatObjectOptions{})
	same := false
	if readErr == nil {
		same, readErr = s.same(ctx, name, object, content)
	}
	_, listErr := s.client.BucketExists(ctx, s.bucket) // as Check does
	removeErr := s.client.RemoveObject(ctx, s.bucket, name, minio.RemoveObjectOptions{})
	switch {
	case readErr != nil:
		return fmt.Errorf("cannot be read: %w", explain(readErr))
	case !same || object.UserMetadata[uploadIDKey] != path.Base(name):
		return fmt.Errorf("does not keep what it is sent: %d bytes were written, and %d are stored, or others", size, object.Size)
	case removeErr != nil:
		return fmt.Errorf("cannot be deleted from: %w", explain(removeErr))
	case listErr != nil:
		return fmt.Errorf("cannot be listed: %w", explain(listErr))
	}
	return nil
}

const elsewhere = "the bucket is in another region, or at another endpoint"

// explanations say what an S3 error code means for the operator.
var explanations = map[string]string{
	"NoSuchBucket":                 "there is no such bucket",
	"XAdminUserNotFound":           "the server does not know the key in AWS_ACCESS_KEY_ID", // Versity
	"InvalidAccessKeyId":           "the server does not know the key in AWS_ACCESS_KEY_ID",
	"SignatureDoesNotMatch":        "the secret in AWS_SECRET_ACCESS_KEY does not match the key",
	"AccessDenied":                 "the credentials do not allow this",
	"PermanentRedirect":            elsewhere,
	"TemporaryRedirect":            elsewhere,
	"AuthorizationHeaderMalformed": "the region is missing or wrong: add ?region=REGION to the URL",
	"RequestTimeTooSkewed":         "the clock of this machine is wrong: synchronize it with NTP",
	"ExpiredToken":                 "the credentials have expired: renew them",
	"QuotaExceeded":                "the bucket or the account is full",
	"XMinioStorageFull":            "the disks of the server are full",
	minio.NotImplemented:           "the server does not know a header of the request, such as If-None-Match, which protects files from being overwritten: use another server",
}

// reason returns why a request failed, without the server's message, which may have a path.
func reason(response minio.ErrorResponse) error {
	text, ok := explanations[response.Code]
	if response.StatusCode == 0 {
		return errors.New("the response is not that of an S3 server: check the endpoint")
	}
	if !ok {
		text = "S3 responds " + response.Code
	}
	return fmt.Errorf("%s (status %d)", text, response.StatusCode)
}

// notReadyError is the error of a bucket that cannot be opened now and may be later: its
// server cannot be reached, or has a fault.
type notReadyError struct{ error }

// IsNotReady reports whether a bucket may be opened later, without a change of the settings.
func IsNotReady(err error) bool {
	_, ok := errors.AsType[notReadyError](err)
	return ok
}

// explain returns why a request of probe failed, without the server's message.
func explain(err error) error {
	var response minio.ErrorResponse
	var dnsErr *net.DNSError
	var opErr *net.OpError
	switch {
	case errors.As(err, &response):
		err = reason(response)
		if response.StatusCode < http.StatusInternalServerError || response.Code == minio.NotImplemented {
			return err
		}
	case errors.As(err, &dnsErr) && dnsErr.IsNotFound:
		err = errors.New("no such host")
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("no response in time")
	case errors.As(err, &opErr):
		err = opErr.Err
	default:
		if err = storeError("request", err); dnsErr == nil && !errors.Is(err, errClosed) {
			return err
		}
	}
	return notReadyError{err}
}

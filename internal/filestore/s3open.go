package filestore

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3OpenLimit bounds the first contact with a server.
const s3OpenLimit = 8 * time.Second

// Bucket names a bucket of an S3 server.
type Bucket struct {
	Name     string
	Region   string
	Endpoint string // http:// or https:// and a host; empty: Amazon's of the region
}

// OpenS3 opens a bucket with the credentials of the standard AWS environment
// variables, and tries whether it can be written to, read and deleted from.
// Drafts lie below spoolDir.
func OpenS3(ctx context.Context, bucket Bucket, spoolDir string) (*S3, error) {
	client, err := newClient(bucket)
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", bucket.Name, err)
	}
	spool, err := OpenDisk(spoolDir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spoolDir, err)
	}
	store := &S3{client: client, bucket: bucket.Name, spool: spool}
	if err := store.try(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("bucket %s on %s %w", bucket.Name, client.EndpointURL().Host, err), spool.Close())
	}
	return store, nil
}

// newClient prepares requests to a bucket's server, and sends none.
func newClient(bucket Bucket) (*minio.Client, error) {
	endpoint := &url.URL{Scheme: "https", Host: "s3." + bucket.Region + ".amazonaws.com"}
	if bucket.Endpoint != "" {
		var err error
		if endpoint, err = url.Parse(bucket.Endpoint); err != nil {
			return nil, errors.New("the endpoint is no address")
		}
	}
	account, err := (&credentials.EnvAWS{}).Retrieve()
	if err != nil || account.AccessKeyID == "" || account.SecretAccessKey == "" {
		// Without them the library would ask as nobody.
		return nil, errors.New("the credentials are missing: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: s3DialTimeout}).DialContext
	transport.TLSHandshakeTimeout = s3DialTimeout
	transport.ResponseHeaderTimeout = s3HeaderTimeout
	transport.IdleConnTimeout = s3IdleTimeout
	transport.MaxIdleConnsPerHost = s3Connections
	// The bytes of a file are what they are; nothing is unpacked on the way.
	transport.DisableCompression = true
	return minio.New(endpoint.Host, &minio.Options{
		Creds:      credentials.NewStatic(account.AccessKeyID, account.SecretAccessKey, account.SessionToken, account.SignerType),
		Secure:     endpoint.Scheme == "https",
		Region:     bucket.Region,
		Transport:  transport,
		MaxRetries: s3Retries,
	})
}

// try does with a small object of its own what will be done with files. No
// stored file can have its name.
func (s *S3) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s3OpenLimit)
	defer cancel()
	name := path.Join(draftFolder, "try-"+rand.Text())
	content := []byte("written to try whether this can be done\n")
	if err := s.put(ctx, name, path.Base(name), bytes.NewReader(content), int64(len(content))); err != nil {
		return fmt.Errorf("cannot be written to: %w", s3Reason(err))
	}
	_, readErr := s.client.StatObject(ctx, s.bucket, name, minio.StatObjectOptions{})
	removeErr := s.client.RemoveObject(ctx, s.bucket, name, minio.RemoveObjectOptions{})
	switch {
	case readErr != nil:
		return fmt.Errorf("cannot be read: %w", s3Reason(readErr))
	case removeErr != nil:
		return fmt.Errorf("cannot be deleted from: %w", s3Reason(removeErr))
	}
	return nil
}

// s3Reasons are what codes of S3 mean to an operator.
var s3Reasons = map[string]string{
	"NoSuchBucket":          "there is no such bucket",
	"XAdminUserNotFound":    "the key in AWS_ACCESS_KEY_ID is not known there", // of Versity
	"InvalidAccessKeyId":    "the key in AWS_ACCESS_KEY_ID is not known there",
	"SignatureDoesNotMatch": "the secret in AWS_SECRET_ACCESS_KEY is not that of the key",
	"AccessDenied":          "the credentials do not allow that",
	"PermanentRedirect":     "the bucket is in another region, or at another endpoint",
}

// s3Reason returns why a bucket could not be opened, as an operator can read it
// in one line.
func s3Reason(err error) error {
	var answer minio.ErrorResponse
	var name *net.DNSError
	var network *net.OpError
	switch {
	case errors.As(err, &answer):
		reason, known := s3Reasons[answer.Code]
		if !known {
			reason = "S3 answers " + answer.Code
		}
		return fmt.Errorf("%s (status %d)", reason, answer.StatusCode)
	case errors.As(err, &name) && name.IsNotFound:
		return errors.New("no such host")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no answer in time")
	case errors.As(err, &network):
		return network.Err
	}
	return s3Fault("ask", err)
}

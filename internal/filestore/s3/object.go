package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/disk"
)

const (
	// maxPart is the size of all parts of an object but the last, in bytes, and maxParts what
	// a server takes.
	maxPart  = 64 << 20
	maxParts = 10_000
	// partTimeout bounds each request that sends a part, or makes the object of its parts.
	partTimeout = 15 * time.Minute
	// partAttempts is how often such a request is sent before it fails.
	partAttempts = 10
)

// object is a filestore.Object.
type object struct {
	store   *Store // without staged files
	key     string
	maxPart int
}

// OpenObject returns the object with a key of a bucket. It sends no request.
func OpenObject(bucket Bucket, key string) (filestore.Object, error) {
	client, err := newClient(bucket, partTimeout, partAttempts)
	if err == nil {
		_, err = client.GetCreds()
	}
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", bucket.Name, err)
	}
	return &object{store: &Store{Staging: new(disk.Staging), client: client, bucket: bucket.Name}, key: key, maxPart: maxPart}, nil
}

// fail returns the error of a request, for the operator.
func (o *object) fail(action string, err error) error {
	return fmt.Errorf("bucket %s on %s %s: %w", o.store.bucket, o.store.client.EndpointURL().Host, action, explain(err))
}

// stat reads the metadata of the object, or returns fs.ErrNotExist.
func (o *object) stat(ctx context.Context) (minio.ObjectInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	info, err := o.store.client.StatObject(ctx, o.store.bucket, o.key, minio.StatObjectOptions{})
	if status := minio.ToErrorResponse(err).StatusCode; status >= 400 && status < 500 {
		// The response to HEAD has no body that says why.
		var content io.ReadCloser
		if content, info, _, err = (minio.Core{Client: o.store.client}).GetObject(ctx, o.store.bucket, o.key, minio.GetObjectOptions{}); err == nil {
			_ = content.Close()
		}
	}
	switch {
	case minio.ToErrorResponse(err).Code == minio.NoSuchKey:
		return info, fs.ErrNotExist
	case err != nil:
		return info, o.fail("cannot be read", err)
	}
	return info, nil
}

// remove removes the object, if it can.
func (o *object) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	_ = o.store.client.RemoveObject(ctx, o.store.bucket, o.key, minio.RemoveObjectOptions{})
}

// Exists implements filestore.Object.
func (o *object) Exists(ctx context.Context) (bool, error) {
	_, err := o.stat(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Open implements filestore.Object.
func (o *object) Open(ctx context.Context) (io.ReadCloser, error) { return o.store.open(ctx, o.key) }

// Write implements filestore.Object.
func (o *object) Write(ctx context.Context, fn func(io.Writer) error) error {
	u := &upload{ctx: ctx, object: o, core: minio.Core{Client: o.store.client}, uploadID: rand.Text(), whole: md5.New(), ofParts: md5.New()}
	if err := u.begin(); err != nil {
		return err
	}
	err := fn(u)
	if err == nil {
		err = u.complete()
	}
	if err != nil {
		u.abort()
	}
	return err
}

// upload is an object that is being written. Each part is sent with its MD5, which the bucket
// compares.
type upload struct {
	ctx      context.Context
	object   *object
	core     minio.Core
	id       string // of the bucket
	uploadID string // of the object's metadata

	part           bytes.Buffer
	parts          []minio.CompletePart
	size           int64
	whole, ofParts hash.Hash // of the content, and of the MD5 of each part
}

// begin begins the upload.
func (u *upload) begin() (err error) {
	ctx, cancel := context.WithTimeout(u.ctx, requestTimeout)
	defer cancel()
	u.id, err = u.core.NewMultipartUpload(ctx, u.object.store.bucket, u.object.key,
		minio.PutObjectOptions{ContentType: "application/octet-stream", UserMetadata: map[string]string{uploadIDKey: u.uploadID}})
	if err != nil {
		return u.object.fail("cannot be written to", err)
	}
	return nil
}

// abort removes the parts, also after the end of the context. If it fails, a rule of the bucket
// for incomplete uploads removes them.
func (u *upload) abort() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), requestTimeout)
	defer cancel()
	_ = u.core.AbortMultipartUpload(ctx, u.object.store.bucket, u.object.key, u.id)
}

// Write implements io.Writer.
func (u *upload) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n := min(len(p)-written, u.object.maxPart-u.part.Len())
		u.part.Write(p[written : written+n])
		written += n
		if u.part.Len() == u.object.maxPart {
			if err := u.send(); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

// send sends a part.
func (u *upload) send() error {
	ctx, cancel := context.WithTimeout(u.ctx, partTimeout)
	defer cancel()
	content, number := u.part.Bytes(), len(u.parts)+1
	if number > maxParts {
		return fmt.Errorf("the object has more than %d bytes", int64(maxParts)*int64(u.object.maxPart))
	}
	digest := md5.Sum(content)
	sent, err := u.core.PutObjectPart(ctx, u.object.store.bucket, u.object.key, u.id, number, bytes.NewReader(content), int64(len(content)),
		minio.PutObjectPartOptions{Md5Base64: base64.StdEncoding.EncodeToString(digest[:])})
	if err != nil {
		return u.object.fail("cannot be written to", err)
	}
	u.parts = append(u.parts, minio.CompletePart{PartNumber: number, ETag: sent.ETag})
	u.size += int64(len(content))
	u.whole.Write(content)
	u.ofParts.Write(digest[:])
	u.part.Reset()
	return nil
}

// complete makes the object of the parts, and makes sure that the bucket has kept them.
func (u *upload) complete() error {
	if u.part.Len() > 0 || len(u.parts) == 0 {
		if err := u.send(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(u.ctx, partTimeout)
	defer cancel()
	var options minio.PutObjectOptions
	options.SetMatchETagExcept("*") // If-None-Match: *
	_, err := u.core.CompleteMultipartUpload(ctx, u.object.store.bucket, u.object.key, u.id, u.parts, options)
	// A response that was lost may have been a success.
	info, statErr := u.object.stat(u.ctx)
	switch {
	case statErr == nil && info.UserMetadata[uploadIDKey] != u.uploadID:
		return fs.ErrExist
	case statErr != nil && err != nil:
		return u.object.fail("cannot be written to", err)
	case statErr != nil && !errors.Is(statErr, fs.ErrNotExist):
		return statErr
	}
	same, err := u.kept(info)
	if err == nil && !same {
		err = fmt.Errorf("bucket %s does not keep what it is sent: %d bytes were written, and %d are stored, or others", u.object.store.bucket, u.size, info.Size)
	}
	if err != nil {
		u.object.remove(u.ctx)
	}
	return err
}

// kept reports whether the object has the content that was written. Its entity tag is the MD5
// of those of its parts, or else, as with some encryption, the object is read.
func (u *upload) kept(info minio.ObjectInfo) (bool, error) {
	if info.Size != u.size {
		return false, nil
	}
	if strings.Trim(info.ETag, `"`) == fmt.Sprintf("%s-%d", hex.EncodeToString(u.ofParts.Sum(nil)), len(u.parts)) {
		return true, nil
	}
	content, err := u.object.Open(u.ctx)
	if err != nil {
		return false, err
	}
	return hasSum(content, u.whole.Sum(nil))
}

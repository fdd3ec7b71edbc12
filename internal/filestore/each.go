package filestore

import (
	"context"
	"io/fs"
	"strings"

	"github.com/minio/minio-go/v7"
)

// Each calls fn with the path of every file there is, but for drafts, until fn
// returns an error. Files that come and go meanwhile may be among them or not.
func (d *Disk) Each(ctx context.Context, fn func(path string) error) error {
	var stopped error // by fn, whose error may name a path
	err := fs.WalkDir(d.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case isMissing(err):
			return nil // removed meanwhile
		case err != nil:
			return err
		case name == draftFolder:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		stopped = fn(name)
		return stopped
	})
	if err != nil && stopped == nil {
		return fault("list the stored files", err)
	}
	return stopped
}

// Each calls fn with the path of every file there is, until fn returns an error.
// Files that come and go meanwhile may be among them or not.
func (s *S3) Each(ctx context.Context, fn func(path string) error) error {
	// The listing goes on in the background until its context ends.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for object := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Recursive: true}) {
		if object.Err != nil {
			return s3Fault("list the stored files", object.Err)
		}
		// Some servers have an entry for a folder as well, which is no file.
		if strings.HasSuffix(object.Key, "/") || strings.HasPrefix(object.Key, draftFolder+"/") {
			continue
		}
		if err := fn(object.Key); err != nil {
			return err
		}
	}
	return ctx.Err()
}

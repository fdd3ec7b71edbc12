package backup

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"merchantorders/internal/filestore"
)

// Place is where a backup is: a file or a folder, or an object of a bucket, which is a tar file.
type Place struct {
	// Path is that of the file or folder. For an object it is where it would be as a file;
	// beside it are temporary files only.
	Path   string
	Object filestore.Object // nil: a file or folder
}

// Find returns an error if there is nothing at the place.
func (p Place) Find(ctx context.Context) error {
	if p.Object == nil {
		_, err := os.Stat(p.Path)
		return err
	}
	exists, err := p.Object.Exists(ctx)
	if err == nil && !exists {
		err = fmt.Errorf("the bucket has no object %s", filepath.Base(p.Path))
	}
	return err
}

// expectAbsent returns ErrExists if there is anything at the place.
func (p Place) expectAbsent(ctx context.Context) error {
	if p.Object == nil {
		return expectAbsent(p.Path)
	}
	exists, err := p.Object.Exists(ctx)
	if err == nil && exists {
		err = fmt.Errorf("the object %s %w", filepath.Base(p.Path), ErrExists)
	}
	return err
}

// isCompressed reports whether a new tar file at the place is compressed.
func (p Place) isCompressed() bool {
	return strings.HasSuffix(p.Path, ".tar.gz") || strings.HasSuffix(p.Path, ".tgz")
}

// isArchive reports whether a new backup at the place is a tar file.
func (p Place) isArchive() bool { return p.isCompressed() || strings.HasSuffix(p.Path, ".tar") }

// each calls fn for every file of the backup at the place.
func (p Place) each(ctx context.Context, fn func(name string, content io.Reader) error) error {
	if p.Object != nil {
		return p.eachInObject(ctx, fn)
	}
	info, err := os.Stat(p.Path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return eachInFolder(p.Path, fn)
	}
	file, err := os.Open(p.Path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return eachInArchive(file, fn)
}

// eachInObject is each for an object. An error of its bucket does not mean that the backup is
// damaged.
func (p Place) eachInObject(ctx context.Context, fn func(name string, content io.Reader) error) error {
	object, err := p.Object.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = object.Close() }()
	content := &errorRecorder{r: object}
	err = eachInArchive(content, fn)
	if content.err != nil {
		return fmt.Errorf("the backup cannot be read to its end: %w", content.err)
	}
	return err
}

package backup

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"merchantorders/internal/filestore"
)

// eachInFolder calls fn for every file of a backup that is a folder. Its errors
// contain no path, because clients have chosen the names of invoice files.
func eachInFolder(path string, fn func(name string, content io.Reader) error) error {
	root, err := os.OpenRoot(path) // does not follow links out of the folder
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return filestore.Error("read a file of the backup", err)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		file, err := root.Open(name)
		if err != nil {
			return filestore.Error("read a file of the backup", err)
		}
		return errors.Join(fn(name, file), file.Close())
	})
}

// eachInArchive calls fn for every file of a backup that is a tar file. It
// recognizes a compressed file by its first bytes, not by its name.
func eachInArchive(r io.Reader, fn func(name string, content io.Reader) error) error {
	archive := bufio.NewReader(r)
	// An error of Peek is that of the next read too.
	if magic, _ := archive.Peek(2); string(magic) != "\x1f\x8b" {
		return eachInTar(archive, fn)
	}
	content, err := gzip.NewReader(archive)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return cmp.Or(eachInTar(content, fn), content.Close()) // Close repeats the error of a read
}

// eachInTar calls fn for every regular file of a tar file.
func eachInTar(r io.Reader, fn func(name string, content io.Reader) error) error {
	content := &errorRecorder{r: r}
	for archive := tar.NewReader(content); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			// gzip compares its checksum at the very end.
			_, err = io.Copy(io.Discard, content)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if header == nil {
			return nil
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := fn(header.Name, archive); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) || content.err != nil {
				err = fmt.Errorf("%w: %w", ErrDamaged, err)
			}
			return err
		}
	}
}

// errorRecorder records the error with which reading failed.
type errorRecorder struct {
	r   io.Reader
	err error
}

func (r *errorRecorder) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

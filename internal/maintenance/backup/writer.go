package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"merchantorders/internal/filestore/disk"
)

// writer writes a backup in one of its forms.
type writer interface {
	// add writes a file of exactly size bytes under a name relative to the data
	// folder. It is safe for concurrent use.
	add(ctx context.Context, name string, size int64, content io.Reader) error
	// close makes the backup durable, unless add has failed, and closes it.
	close() error
}

// newWriter creates a backup at a temporary path, in the form that the name of
// its final path asks for.
func newWriter(temp, path string, modified time.Time) (writer, error) {
	compressed := strings.HasSuffix(path, ".tar.gz") || strings.HasSuffix(path, ".tgz")
	if compressed || strings.HasSuffix(path, ".tar") {
		return newTarWriter(temp, compressed, modified)
	}
	if err := os.Mkdir(temp, 0o700); err != nil {
		return nil, err
	}
	files, err := disk.Open(filepath.Join(temp, filesName))
	if err != nil {
		return nil, err
	}
	return &folderWriter{path: temp, files: files}, nil
}

// folderWriter writes a folder with the layout of a data folder.
type folderWriter struct {
	path  string
	files *disk.Store
}

func (w *folderWriter) add(ctx context.Context, name string, _ int64, content io.Reader) error {
	if path, ok := strings.CutPrefix(name, filesName+"/"); ok {
		return storeFile(ctx, w.files, path, content)
	}
	return createFile(filepath.Join(w.path, name), content)
}

func (w *folderWriter) close() error { return errors.Join(w.files.Close(), disk.Sync(w.path)) }

// storeFile stores an invoice file durably.
func storeFile(ctx context.Context, files *disk.Store, path string, content io.Reader) error {
	staged, err := files.Stage(ctx)
	if err != nil {
		return err
	}
	defer staged.Abort()
	if _, err := io.Copy(staged, content); err != nil {
		return err
	}
	return staged.Commit(ctx, path)
}

// createFile creates a file durably. It fails if the file exists.
func createFile(path string, content io.Reader) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// tarWriter writes a tar file.
type tarWriter struct {
	mu       sync.Mutex
	file     *os.File
	gzip     *gzip.Writer // nil if the file is not compressed
	tar      *tar.Writer
	modified time.Time
}

func newTarWriter(path string, compressed bool, modified time.Time) (*tarWriter, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	w := &tarWriter{file: file, modified: modified}
	if compressed {
		w.gzip = gzip.NewWriter(file)
		w.tar = tar.NewWriter(w.gzip)
	} else {
		w.tar = tar.NewWriter(file)
	}
	return w, nil
}

func (w *tarWriter) add(_ context.Context, name string, size int64, content io.Reader) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: w.modified}
	if err := w.tar.WriteHeader(header); err != nil {
		var writeErr *fs.PathError
		if errors.As(err, &writeErr) {
			return err
		}
		// err contains the name, which a client has chosen.
		return errors.New("write the archive: tar cannot store the name of a file")
	}
	_, err := io.Copy(w.tar, content)
	return err
}

func (w *tarWriter) close() error {
	err := w.tar.Close()
	if w.gzip != nil {
		err = errors.Join(err, w.gzip.Close())
	}
	if err == nil {
		err = w.file.Sync()
	}
	return errors.Join(err, w.file.Close())
}

package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
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

// newWriter creates a backup at a temporary path, in the form that its place asks for.
func newWriter(temp string, to Place, modified time.Time) (writer, error) {
	if to.isArchive() {
		file, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		w := newTarWriter(&syncedWriter{file: file}, to.isCompressed(), modified)
		w.file = file
		return w, nil
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
	_, err = io.Copy(&syncedWriter{file: file}, content)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// syncedBytes is how many bytes a syncedWriter leaves to be synced.
const syncedBytes = 4 << 20

// syncedWriter syncs a file again and again while it is written. A server's commits would
// wait for one sync of all of it: several tenths of a second for some hundred MB.
type syncedWriter struct {
	file interface {
		io.Writer
		Sync() error
	}
	unsynced int // bytes
}

// Write implements io.Writer.
func (w *syncedWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if w.unsynced += n; err == nil && w.unsynced >= syncedBytes {
		w.unsynced, err = 0, w.file.Sync()
	}
	return n, err
}

// tarWriter writes a tar file.
type tarWriter struct {
	mu       sync.Mutex
	file     *os.File // nil: whoever has made the output closes it
	out      *writeRecorder
	gzip     *gzip.Writer // nil if the file is not compressed
	tar      *tar.Writer
	modified time.Time
}

func newTarWriter(out io.Writer, compressed bool, modified time.Time) *tarWriter {
	w := &tarWriter{out: &writeRecorder{w: out}, modified: modified}
	if compressed {
		w.gzip = gzip.NewWriter(w.out)
		w.tar = tar.NewWriter(w.gzip)
	} else {
		w.tar = tar.NewWriter(w.out)
	}
	return w
}

// writeRecorder records the error with which writing failed.
type writeRecorder struct {
	w   io.Writer
	err error
}

func (r *writeRecorder) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if err != nil {
		r.err = err
	}
	return n, err
}

func (w *tarWriter) add(_ context.Context, name string, size int64, content io.Reader) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: w.modified}
	if err := w.tar.WriteHeader(header); err != nil {
		if w.out.err != nil {
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
	if w.file == nil {
		return err
	}
	if err == nil {
		err = w.file.Sync()
	}
	return errors.Join(err, w.file.Close())
}

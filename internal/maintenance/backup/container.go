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

// container is what a backup is written into. add may be called by several
// goroutines.
type container interface {
	// add writes a file of exactly size bytes. Names are those of a data folder.
	add(ctx context.Context, name string, size int64, content io.Reader) error
	// finish makes all of it durable. Nothing is added after it.
	finish() error
	// abandon lets go of one that is not finished.
	abandon()
}

// folder is a container that is a folder like a data folder.
type folder struct {
	path  string
	files *disk.Store
}

func newFolder(path string) (*folder, error) {
	files, err := disk.Open(filepath.Join(path, filesName))
	if err != nil {
		return nil, err
	}
	return &folder{path: path, files: files}, nil
}

func (f *folder) add(ctx context.Context, name string, _ int64, content io.Reader) error {
	if below, ok := strings.CutPrefix(name, filesName+"/"); ok {
		return storeFile(ctx, f.files, below, content)
	}
	return writeFile(filepath.Join(f.path, name), content)
}

func (f *folder) finish() error { return errors.Join(f.files.Close(), syncFolder(f.path)) }

func (f *folder) abandon() { _ = f.files.Close() }

// storeFile stores an invoice file durably.
func storeFile(ctx context.Context, files *disk.Store, path string, content io.Reader) error {
	draft, err := files.Stage(ctx)
	if err != nil {
		return err
	}
	defer draft.Abort()
	if _, err := io.Copy(draft, content); err != nil {
		return err
	}
	return draft.Commit(ctx, path)
}

// writeFile writes a file that is not there yet, durably.
func writeFile(path string, content io.Reader) error {
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

// syncFolder makes what a folder has in it durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// archive is a container that is a tar file.
type archive struct {
	mu     sync.Mutex
	file   *os.File
	packer *gzip.Writer // nil: not packed
	tar    *tar.Writer
	madeAt time.Time
}

func newArchive(path string, packed bool, madeAt time.Time) (*archive, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	a := &archive{file: file, madeAt: madeAt}
	var into io.Writer = file
	if packed {
		a.packer = gzip.NewWriter(file)
		into = a.packer
	}
	a.tar = tar.NewWriter(into)
	return a, nil
}

func (a *archive) add(_ context.Context, name string, size int64, content io.Reader) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: a.madeAt}
	if err := a.tar.WriteHeader(header); err != nil {
		return errors.New("write the archive: a file name cannot be kept in it") // without the name
	}
	_, err := io.Copy(a.tar, content)
	return err
}

func (a *archive) finish() error {
	err := a.tar.Close()
	if a.packer != nil {
		err = errors.Join(err, a.packer.Close())
	}
	if err == nil {
		err = a.file.Sync()
	}
	return errors.Join(err, a.file.Close())
}

func (a *archive) abandon() { _ = a.file.Close() }

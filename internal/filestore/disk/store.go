// Package disk stores invoice files in a folder of the local file system. It
// also provides the staging directory that every storage uses.
package disk

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"

	"merchantorders/internal/filestore"
	"merchantorders/internal/order"
)

// Store is order.Files on a folder of the local file system. It is safe for
// concurrent use. The staging directory is in the same folder, so that a commit
// is a rename within one file system.
type Store struct {
	*Staging

	renames sync.Mutex // held from the check of a path to the rename to it
}

var _ order.Files = (*Store)(nil)

// Open opens the folder dir as a store. It creates the folder, readable by its
// owner only, if it does not exist.
func Open(dir string) (*Store, error) {
	s := &Store{}
	var err error
	if s.Staging, err = OpenStaging(dir, s.commit); err != nil {
		return nil, err
	}
	return s, nil
}

// Probe tests that files can be written, read and deleted in a folder, which must
// exist.
func Probe(ctx context.Context, dir string) error {
	store, err := Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	name := path.Join(filestore.StagingDir, "probe-"+rand.Text())
	const content = "This file tests that the folder can be written to.\n"
	if err := store.root.WriteFile(name, []byte(content), fileMode); err != nil {
		return filestore.Error("write a file", err)
	}
	read, readErr := store.root.ReadFile(name)
	if err := store.root.Remove(name); err != nil {
		return filestore.Error("delete a file", err)
	}
	if readErr != nil {
		return filestore.Error("read a file", readErr)
	}
	if string(read) != content {
		return errors.New("a file was read with other content than was written")
	}
	return nil
}

// commit moves a staged file to its path, durably. After an error there is no
// file with this path, unless there was one before.
func (s *Store) commit(_ context.Context, staged *StagedFile, name string) error {
	// Sync before the rename: in the other order a power cut could leave a
	// stored file that is empty or truncated.
	if err := staged.file.Sync(); err != nil {
		return filestore.Error("sync a staged file", err)
	}
	if err := staged.file.Close(); err != nil {
		return filestore.Error("close a staged file", err)
	}
	if err := s.root.MkdirAll(path.Dir(name), dirMode); err != nil {
		return filestore.Error("create the folder of a file", err)
	}
	if err := s.rename(staged.name, name); err != nil {
		return filestore.Error("commit a staged file", err)
	}
	if err := s.syncParents(path.Dir(name)); err != nil {
		_ = s.root.Remove(name)
		_ = s.syncDir(path.Dir(name))
		return filestore.Error("make a stored file durable", err)
	}
	return nil
}

// rename renames a staged file to its path unless there is a file, which
// Rename alone would replace. The check and the rename are atomic within this
// process only. That is enough: the database never gives two files one path.
func (s *Store) rename(staged, name string) error {
	s.renames.Lock()
	defer s.renames.Unlock()
	_, err := s.root.Lstat(name)
	if err == nil {
		return fs.ErrExist
	}
	if !isNotExist(err) {
		return err
	}
	return s.root.Rename(staged, name)
}

// Open implements order.Files.
func (s *Store) Open(ctx context.Context, name string) (order.File, error) {
	const action = "open a stored file"
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !filestore.ValidPath(name) {
		return nil, filestore.Error(action, fs.ErrNotExist)
	}
	file, err := s.root.Open(name)
	if isNotExist(err) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, filestore.Error(action, err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		_ = file.Close()
		return nil, filestore.Error(action, err)
	}
	return file, nil
}

// Remove implements order.Files. It leaves the folder of the file.
func (s *Store) Remove(ctx context.Context, name string) error {
	const action = "remove a stored file"
	if err := ctx.Err(); err != nil {
		return err
	}
	if !filestore.ValidPath(name) {
		return filestore.Error(action, fs.ErrInvalid)
	}
	if err := s.root.Remove(name); err != nil && !isNotExist(err) {
		return filestore.Error(action, err)
	}
	// The database records the removal, so it must survive a power cut. Sync
	// also if there was no file: an earlier call may have failed at this line.
	if err := s.syncDir(path.Dir(name)); err != nil && !isNotExist(err) {
		return filestore.Error("make the removal of a file durable", err)
	}
	return nil
}

// Each calls fn with the path of every stored file until fn returns an error,
// and returns that error. Files stored or removed meanwhile may be included or
// not.
func (s *Store) Each(ctx context.Context, fn func(path string) error) error {
	var fnErr error // may contain a path, so it is returned as it is
	err := fs.WalkDir(s.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case isNotExist(err):
			return nil // removed meanwhile
		case err != nil:
			return err
		case name == filestore.StagingDir:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		fnErr = fn(name)
		return fnErr
	})
	if err != nil && fnErr == nil {
		return filestore.Error("list the stored files", err)
	}
	return fnErr
}

// syncParents makes the entries of a folder and of every folder above it
// durable. It does not skip folders that existed before: a concurrent upload or
// a crashed process may have created one without syncing it.
func (s *Store) syncParents(name string) error {
	for ; ; name = path.Dir(name) {
		if err := s.syncDir(name); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
	}
}

// syncDir makes the entries of a folder durable.
func (s *Store) syncDir(name string) error {
	dir, err := s.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// MkdirAll is os.MkdirAll for a folder that must survive a power cut: it syncs
// the parent of every folder that it creates. The new folders are accessible to
// their owner only.
func MkdirAll(dir string) error {
	err := os.Mkdir(dir, dirMode)
	parent := filepath.Dir(dir)
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := MkdirAll(parent); err != nil {
			return err
		}
		err = os.Mkdir(dir, dirMode)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return Sync(parent)
}

// Sync makes a closed file, or the entries of a folder, durable.
func Sync(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// isNotExist reports whether an error means that there is no such file, or that
// there cannot be one: a parent is a file, or the name is too long.
func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

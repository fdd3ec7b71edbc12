package disk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

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
	opened, err := os.Open(parent)
	if err != nil {
		return err
	}
	return errors.Join(opened.Sync(), opened.Close())
}

// isNotExist reports whether an error means that there is no such file, or that
// there cannot be one: a parent is a file, or the name is too long.
func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

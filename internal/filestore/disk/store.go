// Package disk stores invoice files in a folder of the local file system. It
// also provides the staging directory that every storage uses.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"merchantorders/internal/filestore"
	"merchantorders/internal/order"
)

// Store is order.Files on a folder of the local file system. It is safe for
// concurrent use. The staging directory is in the same folder, so that a commit
// is a rename within one file system, unless another one is mounted below.
type Store struct {
	*Staging
	linked *os.Root // where the link linkedFolder leads; nil: it is a folder
	places []place  // the folder and linkedFolder as they were opened

	renames sync.Mutex // held from the check of a path to the rename to it
}

// place is a folder as it was opened.
type place struct {
	path   string
	opened fs.FileInfo
}

var _ order.Files = (*Store)(nil)

// Open opens the folder dir as a store. It creates the folder, readable by its
// owner only, if it does not exist.
func Open(dir string) (*Store, error) {
	s := new(Store)
	var err error
	if s.Staging, err = OpenStaging(dir, s.commit); err != nil {
		return nil, err
	}
	info, err := s.root.Lstat(linkedFolder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = s.root.MkdirAll(linkedFolder, dirMode) // another process may be faster
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		if s.linked, err = os.OpenRoot(filepath.Join(dir, linkedFolder)); err != nil {
			err = fmt.Errorf("the link %s leads to no folder: mount it, or remove the link: %w", filepath.Join(dir, linkedFolder), err)
			return nil, errors.Join(err, s.Close())
		}
	case err == nil && !info.IsDir():
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, errors.Join(filestore.Error("open the folder of invoice files", err), s.Close())
	}
	for _, path := range []string{dir, filepath.Join(dir, linkedFolder)} {
		opened, err := os.Stat(path)
		if err != nil {
			return nil, errors.Join(filestore.Error("open the folder for files", err), s.Close())
		}
		s.places = append(s.places, place{path, opened})
	}
	return s, nil
}

// linkedFolder may be a link, which os.Root does not follow: an operator who moves the folder to
// a larger disk leaves one.
const linkedFolder = order.InvoiceFolder

// at returns the root to which the path of a stored file belongs, and the path in it.
func (s *Store) at(name string) (*os.Root, string) {
	if below, ok := strings.CutPrefix(name, linkedFolder); ok && s.linked != nil && (below == "" || below[0] == '/') {
		return s.linked, path.Clean("./" + below)
	}
	return s.root, name
}

// checkPlaces returns an error if another folder than the opened one is at its path, as after it
// was moved, or a disk mounted there or taken away: the next start would not find what is stored now.
func (s *Store) checkPlaces() error {
	for _, p := range s.places {
		if found, err := os.Stat(p.path); err != nil || !os.SameFile(p.opened, found) {
			return fmt.Errorf("%s was moved, replaced, mounted over or unmounted while it was in use: put it back, or restart the service", p.path)
		}
	}
	return nil
}

// Check implements order.Files.
func (s *Store) Check(ctx context.Context) error {
	if err := s.checkPlaces(); err != nil {
		return err
	}
	return s.Staging.Check(ctx)
}

// Close closes the folder. Open files remain usable.
func (s *Store) Close() error {
	err := s.Staging.Close()
	if s.linked != nil {
		err = errors.Join(err, s.linked.Close())
	}
	return err
}

// commit moves a staged file to its path, durably. After an error there is no
// file with this path, unless there was one before.
func (s *Store) commit(_ context.Context, staged *StagedFile, name string) error {
	// Sync before the rename: in the other order a power cut could leave a
	// stored file that is empty or truncated.
	if err := staged.file.Sync(); err != nil {
		return filestore.Error("sync a staged file", err)
	}
	if err := s.checkPlaces(); err != nil {
		return err
	}
	root, place := s.at(name)
	if err := root.MkdirAll(path.Dir(place), dirMode); err != nil {
		return filestore.Error("create the folder of a file", err)
	}
	err := s.rename(staged.name, name)
	if errors.Is(err, syscall.EXDEV) {
		err = s.copy(staged, name)
	}
	if err != nil {
		return filestore.Error("commit a staged file", err)
	}
	if err := s.syncParents(path.Dir(name)); err != nil {
		_ = root.Remove(place)
		_ = s.syncDir(path.Dir(name))
		return filestore.Error("make a stored file durable", err)
	}
	return nil
}

// rename renames a file to the path of a stored one unless there is one, which
// Rename alone would replace. The check and the rename are atomic within this
// process only. That is enough: the database never gives two files one path.
func (s *Store) rename(from, name string) error {
	s.renames.Lock()
	defer s.renames.Unlock()
	root, place := s.at(name)
	_, err := root.Lstat(place)
	if err == nil {
		return fs.ErrExist
	}
	if !isNotExist(err) {
		return err
	}
	if other, from := s.at(from); other == root {
		return root.Rename(from, place)
	}
	return syscall.EXDEV
}

// copy is rename for a path on another file system: it copies the file beside the path, makes
// the copy durable, and renames that.
func (s *Store) copy(staged *StagedFile, name string) (err error) {
	from, err := s.root.Open(staged.name)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	beside := path.Join(path.Dir(name), staged.ID())
	root, place := s.at(beside)
	to, err := root.OpenFile(place, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err == nil {
		err = s.rename(beside, name)
	}
	if err != nil {
		_ = root.Remove(place)
	}
	return err
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
	root, place := s.at(name)
	file, err := root.Open(place)
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
	root, place := s.at(name)
	if err := root.Remove(place); err != nil && !isNotExist(err) {
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
	walk := func(root *os.Root, prefix string) error {
		return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
			name = path.Join(prefix, name)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case isNotExist(err):
				return nil // removed meanwhile
			case err != nil:
				return err
			case name == filestore.StagingDir:
				return fs.SkipDir
			case entry.IsDir(), filestore.IsProbe(name), name == linkedFolder:
				return nil
			}
			fnErr = fn(name)
			return fnErr
		})
	}
	err := walk(s.root, "")
	if err == nil && s.linked != nil {
		err = walk(s.linked, linkedFolder)
	}
	if err != nil && fnErr == nil {
		return filestore.Error("list the stored files", err)
	}
	return fnErr
}

// Contains reports whether a folder, without links in its path, is that of a store or below it.
func Contains(dir, folder string) bool {
	var stores []fs.FileInfo
	for _, of := range []string{dir, filepath.Join(dir, linkedFolder)} {
		if info, err := os.Stat(of); err == nil {
			stores = append(stores, info)
		}
	}
	for above := folder; ; above = filepath.Dir(above) {
		info, err := os.Stat(above)
		if err == nil && slices.ContainsFunc(stores, func(store fs.FileInfo) bool { return os.SameFile(info, store) }) {
			return true
		}
		if above == filepath.Dir(above) {
			return false
		}
	}
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
	root, place := s.at(name)
	dir, err := root.Open(place)
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

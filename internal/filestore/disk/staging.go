package disk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"merchantorders/internal/filestore"
	"merchantorders/internal/order"
)

// Files and folders are accessible to their owner only.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

// stagedPrefix begins the name of every staged file. Random letters follow.
const stagedPrefix = "staged-"

// Staging is a folder with a staging directory in it. Staged files are uploads
// that are not yet visible. It is safe for concurrent use. Nothing can be staged in
// the zero value.
type Staging struct {
	root   *os.Root // confines every path, also through ".." and symbolic links
	commit CommitFunc
}

// CommitFunc makes the bytes of a staged file durable under a path, for which
// ValidPath is true; see order.StagedFile.
type CommitFunc func(ctx context.Context, file *StagedFile, path string) error

// OpenStaging opens the folder dir and its staging directory and creates both,
// readable by their owner only, if they do not exist.
func OpenStaging(dir string, commit CommitFunc) (*Staging, error) {
	if err := MkdirAll(filepath.Clean(dir)); err != nil {
		return nil, filestore.Error("create the folder for files", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, filestore.Error("open the folder for files", err)
	}
	if err := root.MkdirAll(filestore.StagingDir, dirMode); err != nil {
		_ = root.Close()
		return nil, filestore.Error("create the staging directory", err)
	}
	return &Staging{root: root, commit: commit}, nil
}

// Close closes the folder. Open files remain usable.
func (s *Staging) Close() error {
	if s.root == nil {
		return nil
	}
	return s.root.Close()
}

// Stage implements order.Files.
func (s *Staging) Stage(ctx context.Context) (order.StagedFile, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.root == nil {
		return nil, filestore.Error("create a staged file", fs.ErrInvalid)
	}
	name := path.Join(filestore.StagingDir, stagedPrefix+rand.Text())
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL
	file, err := s.root.OpenFile(name, flags, fileMode)
	if errors.Is(err, fs.ErrNotExist) && s.root.Mkdir(filestore.StagingDir, dirMode) == nil {
		// A program that cleans folders with such a name has removed it.
		file, err = s.root.OpenFile(name, flags, fileMode)
	}
	if err != nil {
		return nil, filestore.Error("create a staged file", err)
	}
	return &StagedFile{staging: s, name: name, file: file}, nil
}

// Check implements order.Files: it writes a block to a staged file and aborts.
func (s *Staging) Check(ctx context.Context) error {
	file, err := s.Stage(ctx)
	if err != nil {
		return err
	}
	defer file.Abort()
	_, err = file.Write(make([]byte, 4096))
	return err
}

// RemoveStagedFiles removes the staged files last written before a time, which
// a crash has left. It continues after a failed removal and returns the first
// error.
func (s *Staging) RemoveStagedFiles(before time.Time) error {
	entries, err := fs.ReadDir(s.root.FS(), filestore.StagingDir)
	if err != nil {
		return filestore.Error("list the staged files", err)
	}
	var first error
	for _, entry := range entries {
		if err := s.removeStaged(entry, before); err != nil && first == nil {
			first = filestore.Error("remove the staged file "+entry.Name(), err)
		}
	}
	return first
}

// removeStaged removes a staged file if it is old, and ignores other files.
func (s *Staging) removeStaged(entry fs.DirEntry, before time.Time) error {
	if !entry.Type().IsRegular() || !strings.HasPrefix(entry.Name(), stagedPrefix) {
		return nil
	}
	info, err := entry.Info()
	if err == nil && info.ModTime().Before(before) {
		err = s.root.Remove(path.Join(filestore.StagingDir, entry.Name()))
	}
	if isNotExist(err) {
		return nil // committed or aborted meanwhile
	}
	return err
}

// StagedFile is a file in a staging directory.
type StagedFile struct {
	staging *Staging
	name    string   // with the staging directory
	file    *os.File // nil after Abort
	failed  error    // the last failed write
}

// ID returns a random text that no other staged file has.
func (f *StagedFile) ID() string { return path.Base(f.name) }

// Write implements io.Writer. After an error the file can only be aborted.
func (f *StagedFile) Write(p []byte) (int, error) {
	const action = "write a staged file"
	if f.file == nil {
		return 0, filestore.Error(action, fs.ErrClosed)
	}
	n, err := f.file.Write(p)
	if err != nil {
		f.failed = filestore.Error(action, err)
	}
	return n, f.failed
}

// Content returns a reader of all that was written.
func (f *StagedFile) Content() (*io.SectionReader, error) {
	size, err := f.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, filestore.Error("read a staged file", err)
	}
	return io.NewSectionReader(f.file, 0, size), nil
}

// Commit implements order.StagedFile. It returns fs.ErrInvalid if no stored file
// can have the path, fs.ErrClosed if the file was committed or aborted, and
// fs.ErrExist, without a change, if there is a stored file with the path.
func (f *StagedFile) Commit(ctx context.Context, name string) (err error) {
	const action = "commit a staged file"
	defer func() {
		if !errors.Is(err, fs.ErrExist) {
			f.Abort()
		}
	}()
	switch {
	case f.file == nil:
		return filestore.Error(action, fs.ErrClosed)
	case ctx.Err() != nil:
		return ctx.Err()
	case !filestore.ValidPath(name):
		return filestore.Error(action, fs.ErrInvalid)
	case f.failed != nil:
		return fmt.Errorf("commit an incomplete staged file: %w", f.failed)
	}
	return f.staging.commit(ctx, f, name)
}

// Abort implements order.StagedFile. It removes the file. A file that it cannot
// remove is left to RemoveStagedFiles.
func (f *StagedFile) Abort() {
	if f.file == nil {
		return
	}
	// After a commit the file is synced and renamed. Both errors are harmless.
	_ = f.file.Close()
	_ = f.staging.root.Remove(f.name)
	f.file = nil
}

package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// longestElement is the longest element of a path, in bytes, that file systems
// take.
const longestElement = 255

// validPath reports whether name can be that of a stored file: relative,
// without . and .. elements or such as are too long, and not among the drafts,
// which nobody can see.
func validPath(name string) bool {
	for element := range strings.SplitSeq(name, "/") {
		if len(element) > longestElement {
			return false
		}
	}
	top, _, below := strings.Cut(name, "/")
	return below && top != draftFolder && fs.ValidPath(name)
}

// syncFolders makes the entries of a folder durable, and those of every folder
// above it. All of them, not only those just made: another upload may have made
// one a moment ago, or a process that crashed, and not have come to this yet.
func (d *Disk) syncFolders(name string) error {
	for ; ; name = path.Dir(name) {
		if err := d.syncFolder(name); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
	}
}

// syncFolder makes the entries of one folder durable.
func (d *Disk) syncFolder(name string) error {
	folder, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// makeDurable makes the folder dir, and those above it, where they are not
// there, and makes each new entry durable.
func makeDurable(dir string) error {
	err := os.Mkdir(dir, folderMode)
	parent := filepath.Dir(dir)
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := makeDurable(parent); err != nil {
			return err
		}
		err = os.Mkdir(dir, folderMode)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	above, err := os.Open(parent)
	if err != nil {
		return err
	}
	return errors.Join(above.Sync(), above.Close())
}

// isMissing reports whether an error says that there is no such file, or that
// there cannot be one: its folder is a file, its name too long.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// fault says what failed and why, without the path.
func fault(doing string, err error) error { return fmt.Errorf("%s: %w", doing, bare(err)) }

// bare takes the path out of an error of package os.
func bare(err error) error {
	var onPath *fs.PathError
	var onLink *os.LinkError
	switch {
	case errors.As(err, &onPath):
		return onPath.Err
	case errors.As(err, &onLink):
		return onLink.Err
	}
	return err
}

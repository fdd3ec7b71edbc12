package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// suffixes are those of the files of a database that SQLite keeps open.
var suffixes = []string{"", "-wal", "-shm"}

// openFiles are the files of a database as they were opened, by path. SQLite goes on with a
// file that was deleted or replaced under its path: what it writes is gone with its process.
type openFiles map[string]fs.FileInfo

// ReplacedError says that a file of the database is not the one that is open, or that another
// program has written into it.
type ReplacedError struct {
	Path  string
	Aside string // where the log is now; empty: where it was
	Err   error  // why nobody can tell; nil: it is so
}

// Error implements error.
func (e *ReplacedError) Error() string {
	if e.Err != nil {
		return "nothing is stored any more until the database can be found at its path: " + e.Err.Error()
	}
	text := e.Path + " was deleted, emptied, overwritten or replaced while it was open, and nothing is stored any more: stop the service, put the database back, from a backup if need be, and start it"
	if e.Aside != "" {
		text += "; the newest changes are in " + e.Aside + " only, which belongs to the database of before"
	}
	return text
}

// statFiles returns the files of a database that connections have open.
func statFiles(path string) (openFiles, error) {
	files := make(openFiles)
	for _, suffix := range suffixes {
		info, err := os.Stat(path + suffix)
		if err != nil {
			return nil, err
		}
		files[path+suffix] = info
	}
	return files, nil
}

// check returns a ReplacedError if another file, or none, has the path of an open one, or one is
// empty that SQLite does not empty. It takes some microseconds.
func (o openFiles) check() error {
	for path, opened := range o {
		now, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // such as a folder whose owner has changed
			return &ReplacedError{Path: path, Err: err}
		}
		if err != nil || !os.SameFile(opened, now) || now.Size() == 0 && opened.Size() > 0 && !strings.HasSuffix(path, "-wal") {
			return &ReplacedError{Path: path}
		}
	}
	return nil
}

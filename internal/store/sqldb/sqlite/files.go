package sqlite

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// suffixes are those of the files of a database that SQLite keeps open.
var suffixes = []string{"", "-wal", "-shm"}

// openFiles are the files of a database as they were opened, by path. SQLite goes on with a
// file that was deleted or replaced under its path: what it writes is gone with its process.
type openFiles map[string]fs.FileInfo

// ReplacedError says that a file of the database is not the one that is open.
type ReplacedError struct {
	Path string
}

// Error implements error.
func (e *ReplacedError) Error() string {
	return fmt.Sprintf("%s was deleted, emptied or replaced while it was open, and nothing is stored any more: stop the service, put the database back, from a backup if need be, and start it", e.Path)
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
		if now, err := os.Stat(path); err != nil || !os.SameFile(opened, now) || now.Size() == 0 && opened.Size() > 0 && !strings.HasSuffix(path, "-wal") {
			return &ReplacedError{path}
		}
	}
	return nil
}

package sqlite

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
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
	return fmt.Sprintf("%s was deleted, overwritten or replaced while it was open, and nothing is stored any more: stop the service, put the database back, from a backup if need be, and start it", e.Path)
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

// mark is a random number in a database file, by which a file that was overwritten in place, such
// as by cp, is told from the one that was opened. It is SQLite's user version, so it stays as it
// is while a checkpoint writes the page around it. A backup has none.
type mark struct {
	file  *os.File
	value uint32
	seen  atomic.Bool // a checkpoint has written it
}

// markOffset is where a database file has the user version, of 4 bytes.
const markOffset = 60

// newMark chooses a mark for the file at a path. The caller writes it.
func newMark(path string) (*mark, error) {
	file, err := os.Open(path)
	var random [4]byte
	_, _ = rand.Read(random[:])
	return &mark{file: file, value: binary.BigEndian.Uint32(random[:])&^(1<<31) | 1}, err // positive
}

// check returns a ReplacedError if the file had the mark and has it no longer.
func (m *mark) check(path string) error {
	if m == nil {
		return nil
	}
	var now [4]byte
	_, err := m.file.ReadAt(now[:], markOffset)
	switch {
	case err == nil && binary.BigEndian.Uint32(now[:]) == m.value:
		m.seen.Store(true)
	case (err == nil || errors.Is(err, io.EOF)) && m.seen.Load():
		return &ReplacedError{path}
	}
	return nil
}

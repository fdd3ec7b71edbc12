package sqlite

import (
	"os"

	"merchantorders/internal/store/sqldb"
)

// walIndex reads the header of the index of the write-ahead log: the first 48
// bytes of the file with the suffix -shm, as documented in SQLite's "WAL-mode
// File Format". The header has a change counter and a checksum and is written
// last in a commit, whatever process commits. SQLite itself reads it to
// determine whether its page cache is valid.
//
// `PRAGMA data_version` tells the same in 3.5 to 5 µs, a fifth of the time of a
// request that is answered from the response cache. This takes 0.3 µs.
type walIndex struct{ file *os.File }

// openWALIndex opens the file. It exists as long as a connection is open.
//
// It must be closed after all connections of the process: closing any
// descriptor of the file releases the process's POSIX locks on it.
func openWALIndex(path string) (walIndex, error) {
	file, err := os.Open(path + "-shm")
	return walIndex{file}, err
}

// version returns the header. ok is false if it cannot be read.
func (w walIndex) version() (version sqldb.CommitVersion, ok bool) {
	n, err := w.file.ReadAt(version[:], 0)
	return version, err == nil && n == len(version) && version != sqldb.CommitVersion{}
}

func (w walIndex) close() {
	if w.file != nil {
		_ = w.file.Close()
	}
}

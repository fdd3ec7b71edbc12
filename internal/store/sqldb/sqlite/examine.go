package sqlite

import (
	"context"
	"path/filepath"
	"syscall"

	"merchantorders/internal/store/sqldb"
)

const accessWrite = 0x2 // of access(2)

// Examine returns what a database file tells of itself.
func Examine(_ context.Context, path string) (sqldb.Examination, error) {
	found := sqldb.Examination{Rights: "the user may write the file and its folder"}
	for _, needed := range []string{path, filepath.Dir(path)} {
		if err := syscall.Access(needed, accessWrite); err != nil {
			found.Lacking = &sqldb.Flaw{Problem: needed + " is not writable for this user", Advice: "change its owner or its mode"}
			break
		}
	}
	return found, nil
}

// LockFile returns the path of the file that the servers of a database lock. It belongs
// to the real path.
func LockFile(path string) (string, error) {
	real, err := RealPath(path)
	return real + ".serve.lock", err
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"merchantorders/internal/store/sqldb"
)

const accessWrite = 0x2 // of access(2)

// Examine returns what a database file tells of itself.
func Examine(ctx context.Context, path string) (sqldb.Examination, error) {
	found := sqldb.Examination{Rights: "the user may write the file and its folder"}
	path, err := RealPath(path)
	if err != nil {
		return found, err
	}
	for _, needed := range []string{path, filepath.Dir(path)} {
		if err := syscall.Access(needed, accessWrite); err != nil {
			found.Lacking = &sqldb.Flaw{Problem: needed + " is not writable for this user", Advice: "change its owner or its mode"}
			break
		}
	}
	if found.Lacking == nil {
		// It does not wait for one who writes, and other checks tell of other errors.
		if err := tryFile(ctx, path); refused(err) {
			found.Unusable = &sqldb.Flaw{Problem: "takes no changes: " + refusal(path, err).Error(), Advice: "make room, or look at the disk"}
		}
	}
	var info syscall.Stat_t
	if err := syscall.Stat(path, &info); err == nil && info.Nlink > 1 {
		found.Advice = []sqldb.Flaw{{
			Problem: fmt.Sprintf("%s has %d names (hard links)", path, info.Nlink),
			Advice:  "remove the others: a program that opens one does not see the newest changes, and may damage the file",
		}}
	}
	return found, nil
}

// tryFile tries a change of a database file.
func tryFile(ctx context.Context, path string) error {
	c, err := openConn(path, 0)
	if err != nil {
		return err
	}
	return errors.Join(tryChange(ctx, c), c.sqlite.Close())
}

// LockFile returns the path of the file that the servers of a database lock. It belongs
// to the real path.
func LockFile(path string) (string, error) {
	real, err := RealPath(path)
	return real + ".serve.lock", err
}

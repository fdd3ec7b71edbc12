package backup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// tempLock is locked in a temporary folder as long as its process lives.
const tempLock = "lock"

// makeTemp makes a temporary folder beside a backup, which remove removes. It first removes
// those that killed processes have left there.
func makeTemp(path string) (temp string, remove func() error, err error) {
	dir := filepath.Dir(path)
	err = eachLeft(dir, func(folder string) error { return os.RemoveAll(folder) })
	if err != nil {
		return "", nil, err
	}
	if temp, err = os.MkdirTemp(dir, "."+filepath.Base(path)+partial+"-"); err != nil {
		return "", nil, err
	}
	lock := flock.New(filepath.Join(temp, tempLock))
	remove = func() error { return errors.Join(os.RemoveAll(temp), lock.Close()) }
	if _, err := lock.TryLock(); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return temp, remove, nil
}

// Left returns the temporary folders in a folder that killed backups and restores have left:
// each may hold a whole database. The next backup in the folder removes them.
func Left(dir string) (folders []string, err error) {
	err = eachLeft(dir, func(folder string) error {
		folders = append(folders, folder)
		return nil
	})
	return folders, err
}

// eachLeft calls fn with each temporary folder in a folder whose process is dead, and holds
// its lock meanwhile.
func eachLeft(dir string, fn func(folder string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		folder := filepath.Join(dir, entry.Name())
		if !strings.HasPrefix(entry.Name(), ".") || !strings.Contains(entry.Name(), partial+"-") {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, tempLock)); err != nil {
			continue // another process is about to lock it
		}
		lock := flock.New(filepath.Join(folder, tempLock))
		free, err := lock.TryLock()
		if err == nil && free {
			err = errors.Join(fn(folder), lock.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

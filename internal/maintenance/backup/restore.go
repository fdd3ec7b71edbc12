package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/store"
)

// ErrDamaged says that a backup is not what it was when it was made.
var ErrDamaged = errors.New("the backup is damaged")

// Home is where an embedded installation lives.
type Home struct {
	Folder   string // data folder
	Database string // path of the database file
	Files    string // folder of the invoice files
}

// partial is added to the name of what is not finished yet.
const partial = ".partial"

// Restore puts a backup in place as an installation whose home is empty, and
// looks through it before: everything that check.Run finds wrong is told to
// options. With faults nothing is put in place and the error is ErrDamaged,
// unless withFaults is set: then what there is counts more than what is missing.
// So it is after an error of any kind.
func Restore(ctx context.Context, path string, home Home, withFaults bool, options maintenance.Options) (check.Result, error) {
	if err := home.isEmpty(); err != nil {
		return check.Result{}, err
	}
	if err := home.clear(); err != nil {
		return check.Result{}, err
	}
	result, err := home.restore(ctx, path, withFaults, options)
	return result, errors.Join(err, home.clear())
}

// isEmpty returns an error when there is something in the home. What a server or a
// restore that was stopped leaves behind does not count.
func (h Home) isEmpty() error {
	entries, err := os.ReadDir(h.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.Contains(name, partial) && name != "serve.lock" && name != "lost+found" {
			return fmt.Errorf("the folder %s is not empty: it has %s", h.Folder, name)
		}
	}
	return notThere(h.Database)
}

// clear removes what is not finished.
func (h Home) clear() error {
	err := os.RemoveAll(h.Files + partial)
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		if removeErr := os.Remove(h.Database + partial + suffix); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}
	return err
}

// restore unpacks beside the places where all is to be, looks through it, and
// renames it. The database comes last: with it the installation is there.
func (h Home) restore(ctx context.Context, path string, withFaults bool, options maintenance.Options) (check.Result, error) {
	files, err := disk.Open(h.Files + partial)
	if err != nil {
		return check.Result{}, err
	}
	result, err := h.unpackAndCheck(ctx, path, files, options)
	if err = errors.Join(err, files.Close()); err != nil {
		return result, err
	}
	if result.Faults > 0 && !withFaults {
		return result, ErrDamaged
	}
	if err := h.isEmpty(); err != nil {
		return result, err
	}
	for _, name := range []string{h.Files, h.Database} {
		if err := os.Rename(name+partial, name); err != nil {
			return result, err
		}
		if err := syncFolder(filepath.Dir(name)); err != nil {
			return result, err
		}
	}
	return result, nil
}

// unpackAndCheck unpacks a backup and looks through it.
func (h Home) unpackAndCheck(ctx context.Context, path string, files *disk.Store, options maintenance.Options) (check.Result, error) {
	u := &unpacking{database: h.Database + partial, files: files}
	if err := u.unpack(ctx, path); err != nil {
		return check.Result{}, err
	}
	db, err := store.OpenSQLite(ctx, u.database, store.Options{})
	if err != nil {
		return check.Result{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	result, err := check.Run(ctx, maintenance.Installation{DB: db, Files: files}, options)
	if err = errors.Join(err, db.Close()); err != nil {
		return result, err
	}
	if u.count != u.manifest.Files {
		result.Faults++
		if options.Found != nil {
			options.Found(store.Fault{Problem: fmt.Sprintf("invoice files in the backup are %d, there were %d", u.count, u.manifest.Files)})
		}
	}
	return result, syncDatabase(u.database)
}

// syncDatabase makes a database durable that nobody has open: all of it is in the
// one file then.
func syncDatabase(path string) error {
	if err := notThere(path + "-wal"); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// unpacking is one backup being unpacked.
type unpacking struct {
	database string // path
	files    *disk.Store

	manifest *Manifest
	size     int64  // of the database
	hash     string // likewise
	count    int64  // of invoice files
}

func (u *unpacking) unpack(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		err = eachInFolder(path, func(name string, content io.Reader) error { return u.take(ctx, name, content) })
	default:
		err = eachInArchive(path, func(name string, content io.Reader) error { return u.take(ctx, name, content) })
	}
	if err != nil {
		return err
	}
	return u.complete()
}

// take puts one file of the backup where it belongs. What is no part of a backup
// is left out.
func (u *unpacking) take(ctx context.Context, name string, content io.Reader) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if below, ok := strings.CutPrefix(name, filesName+"/"); ok {
		u.count++
		return storeFile(ctx, u.files, below, content)
	}
	switch name {
	case databaseName:
		hash := sha256.New()
		counted := &counter{}
		err := writeFile(u.database, io.TeeReader(content, io.MultiWriter(hash, counted)))
		u.size, u.hash = counted.bytes, hex.EncodeToString(hash.Sum(nil))
		return err
	case manifestName:
		manifest, err := readManifest(content)
		u.manifest = &manifest
		return err
	}
	return nil
}

// counter counts what is written to it.
type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// complete returns an error when parts of the backup are missing or others.
func (u *unpacking) complete() error {
	switch m := u.manifest; {
	case m == nil:
		return fmt.Errorf("%w, or is none: there is no %s in it", ErrDamaged, manifestName)
	case u.hash == "":
		return fmt.Errorf("%w: there is no %s in it", ErrDamaged, databaseName)
	case m.Database.SHA256 != u.hash || m.Database.Size != u.size:
		return fmt.Errorf("%w: its %s is not the one that was backed up", ErrDamaged, databaseName)
	}
	return nil
}

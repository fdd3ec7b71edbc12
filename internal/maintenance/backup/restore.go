package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/sqldb/sqlite"
)

// ErrDamaged means that a backup is not what it was when it was made.
var ErrDamaged = errors.New("the backup is damaged")

// DataFolder is where an embedded installation is restored.
type DataFolder struct {
	Path     string
	Database string // path of the database file
	Files    string // path of the folder of invoice files
}

// partial is part of the name of what is not complete yet.
const partial = ".partial"

// Restore restores a backup into an empty data folder and checks it before it
// appears there; see check.Run. After findings nothing is restored and the error
// is ErrDamaged, unless withFindings is true. After any other error nothing is
// restored either.
func Restore(
	ctx context.Context, path string, to DataFolder, withFindings bool, reporter *maintenance.Reporter,
) (check.Result, error) {
	if err := to.expectEmpty(); err != nil {
		return check.Result{}, err
	}
	if err := to.removePartial(); err != nil {
		return check.Result{}, err
	}
	result, err := to.restore(ctx, path, withFindings, reporter)
	return result, errors.Join(err, to.removePartial())
}

// expectEmpty returns an error if there is anything in the data folder. What a
// server or an interrupted restore leaves behind does not count.
func (f DataFolder) expectEmpty() error {
	entries, err := os.ReadDir(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.Contains(name, partial) && name != "serve.lock" && name != "lost+found" {
			return fmt.Errorf("the folder %s is not empty: it contains %s", f.Path, name)
		}
	}
	return expectAbsent(f.Database)
}

// removePartial removes what an interrupted restore left behind.
func (f DataFolder) removePartial() error {
	err := os.RemoveAll(f.Files + partial)
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		if removeErr := os.Remove(f.Database + partial + suffix); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}
	return err
}

// restore unpacks and checks the backup under temporary names, then renames
// files and database. The database is last: with it the installation exists.
func (f DataFolder) restore(
	ctx context.Context, path string, withFindings bool, reporter *maintenance.Reporter,
) (check.Result, error) {
	files, err := disk.Open(f.Files + partial)
	if err != nil {
		return check.Result{}, err
	}
	result, err := unpackAndCheck(ctx, path, f.Database+partial, files, reporter)
	if err = errors.Join(err, files.Close()); err != nil {
		return result, err
	}
	if result.Findings > 0 && !withFindings {
		return result, ErrDamaged
	}
	if err := f.expectEmpty(); err != nil {
		return result, err
	}
	for _, name := range []string{f.Files, f.Database} {
		if err := os.Rename(name+partial, name); err != nil {
			return result, err
		}
		if err := syncFolder(filepath.Dir(name)); err != nil {
			return result, err
		}
	}
	return result, nil
}

// unpackAndCheck unpacks a backup and checks it.
func unpackAndCheck(
	ctx context.Context, path, database string, files *disk.Store, reporter *maintenance.Reporter,
) (check.Result, error) {
	u := &unpacker{database: database, files: files}
	if err := u.unpack(ctx, path); err != nil {
		return check.Result{}, err
	}
	if u.fileCount != u.manifest.Files {
		reporter.Find(maintenance.Finding{
			Problem: fmt.Sprintf("the backup contains %d invoice files, but its manifest says %d", u.fileCount, u.manifest.Files),
		})
	}
	db, err := sqlite.Open(ctx, database)
	var newer *migrations.NewerSchemaError
	if errors.As(err, &newer) {
		return check.Result{}, fmt.Errorf("the backup was made by a newer version (schema %d, this one knows %d); restore it with that version",
			newer.Version, newer.Known)
	}
	if err != nil {
		return check.Result{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	result, err := check.Run(ctx, maintenance.Installation{DB: db, Files: files}, reporter)
	if err = errors.Join(err, db.Close()); err != nil {
		return result, err
	}
	return result, syncDatabase(database)
}

// syncDatabase makes the file of a closed database durable.
func syncDatabase(path string) error {
	if err := expectAbsent(path + "-wal"); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

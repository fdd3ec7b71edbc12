package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"merchantorders/internal/config"
	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/store/migrations"
)

// AllowNew decides whether a command may make a new installation: in an empty
// folder only. A folder with files and without a database has lost it, for example
// because a volume is not mounted; an empty database would refuse every client.
// AllowNew sets NoCreate if the command may not.
func (o *Opener) AllowNew(schema *migrations.Options) (err error) {
	o.notNew, err = o.whyNotNew()
	schema.NoCreate = o.notNew != ""
	if err != nil || !schema.NoCreate {
		return err
	}
	return o.ExpectInstallation()
}

// AllowNewByCommand is AllowNew for commands but serve. Whoever runs a command without the
// settings of the service, which may come from its unit, would make a second installation in
// the folder of the service.
func (o *Opener) AllowNewByCommand(schema *migrations.Options) error {
	if err := o.AllowNew(schema); err != nil || schema.NoCreate || !o.DatabaseMissing() {
		return err
	}
	lock := filepath.Join(o.Settings.Data, serveLock)
	if _, err := os.Stat(lock); err == nil {
		o.notNew = fmt.Sprintf("a server has used the folder %s (%s), with another database than %s: give the command the settings of the server, or name its database",
			o.Settings.Data, serveLock, o.Settings.DatabaseName())
	} else if o.Settings.Storage != "" && o.Settings.Database == "" {
		o.notNew = fmt.Sprintf("--storage is %s, and no database is named: name the database of these files, or begin a new installation with serve", o.Settings.StorageName())
	}
	if schema.NoCreate = o.notNew != ""; schema.NoCreate {
		return o.ExpectInstallation()
	}
	return nil
}

// whyNotNew returns why no new installation can be made; empty text if it can.
func (o *Opener) whyNotNew() (string, error) {
	if file := o.Settings.DatabaseLocation().File(); file != "" {
		database := filepath.Base(file)
		reason, err := o.whatIsIn(o.Settings.Data, func(name string) bool {
			// An empty folder may be the mount point of a volume for the files.
			return strings.HasPrefix(name, database) || strings.HasSuffix(name, ".lock") || emptyFolder(filepath.Join(o.Settings.Data, name))
		})
		if reason != "" || err != nil {
			return reason, err
		}
	}
	if o.Settings.FilesInData() {
		return "", nil
	}
	return o.whatIsIn(o.Settings.FilesPath(), func(name string) bool { return name == filestore.StagingDir })
}

// expectEmptyBucket returns migrations.ErrNoSchema, and sets notNew, if a bucket
// contains files. It is asked only if the database is empty. bucket may be nil.
func (o *Opener) expectEmptyBucket(ctx context.Context, bucket *s3.Store) error {
	if bucket == nil {
		return nil
	}
	err := bucket.Each(ctx, func(string) error { return fs.ErrExist })
	if errors.Is(err, fs.ErrExist) {
		// Clients have chosen the names of files.
		o.notNew = fmt.Sprintf("the bucket %s contains files, but the database %s is missing or empty: name the database of these files, or restore a backup of it;"+
			" a new installation can be made with an empty bucket only", o.Settings.StorageName(), o.Settings.DatabaseName())
		return migrations.ErrNoSchema
	}
	return err
}

// OpenEmptyBucket is expectEmptyBucket for commands that need no bucket otherwise.
func (o *Opener) OpenEmptyBucket(ctx context.Context) error {
	bucket, err := o.OpenBucket(ctx)
	if err != nil {
		return err
	}
	return o.expectEmptyBucket(ctx, bucket)
}

// whatIsIn returns an error text that names what is in a folder, unless ignored;
// empty text if there is nothing.
func (o *Opener) whatIsIn(folder string, ignored func(name string) bool) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, entry := range entries {
		if name := entry.Name(); name != "lost+found" && !ignored(name) {
			return fmt.Sprintf("the folder %s contains %s, but the database %s is missing or empty: mount the volume of the database, or restore a backup;"+
				" a new installation can be made in an empty folder only", folder, name, o.Settings.DatabaseName()), nil
		}
	}
	return "", nil
}

func emptyFolder(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// CreateDataFolder creates the data folder, accessible to its owner only, if it
// does not exist. It returns the full path of a new folder, so that the user
// notices a mistyped name, and "" if the folder exists.
func (o *Opener) CreateDataFolder() (string, error) {
	path, err := filepath.Abs(o.Settings.Data)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err := disk.MkdirAll(path); err != nil {
		return "", fmt.Errorf("create the data folder: %w", err)
	}
	return path, nil
}

// DatabaseMissing reports whether the settings name a database file that does not exist.
func (o *Opener) DatabaseMissing() bool {
	file := o.Settings.DatabaseLocation().File()
	if file == "" {
		return false
	}
	_, err := os.Stat(file)
	return errors.Is(err, fs.ErrNotExist)
}

// ExpectInstallation returns an error if the settings name an SQLite file that does
// not exist, so that a mistyped data folder is not taken for an empty installation.
// Opening the database reports any other error.
func (o *Opener) ExpectInstallation() error {
	if !o.DatabaseMissing() {
		return nil
	}
	problem := o.notNew
	if problem == "" {
		file := o.Settings.DatabaseLocation().File()
		if path, err := filepath.Abs(file); err == nil {
			file = path // a relative one does not say where the command looks
		}
		problem = "must name an installation: there is no " + file + "; serve or merchant add makes a new one in an empty folder"
	}
	return UsageError{Err: config.Invalid(o.databaseFlag(), problem)}
}

// databaseFlag returns the flag that names the database.
func (o *Opener) databaseFlag() string {
	if o.Settings.Database == "" {
		return o.FlagPrefix + "data"
	}
	return o.FlagPrefix + "database"
}

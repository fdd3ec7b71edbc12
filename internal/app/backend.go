// Package app opens the database and the storage, wires the packages of the service
// together and serves. Its folder commands is the command line.
//
// It is the only package that knows which database and which storage are used. It
// contains no rules of the domain and no SQL.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode"

	"merchantorders/internal/config"
	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/tracing"
)

// Opener opens the database and the storage that settings name.
type Opener struct {
	Settings config.Config
	// FlagPrefix is that of the flags of settings in errors: "to-" for the target of a copy.
	FlagPrefix string
	Sources    *config.Sources  // of the credentials of a bucket
	Now        func() time.Time // of this machine; see clock for what it is once the database is open
	Tracing    *tracing.Tracing // nil: off

	// wait is how long to wait for a database or a bucket that is not there yet, and waiting
	// what is called with its kind and the reason when that begins.
	wait    time.Duration
	waiting func(string, error)

	clock  *clock // of Now, once the database is open
	notNew string // why a new installation must not be made; empty: it may
}

// UsageError is an error of the settings or the usage of a command. Nothing was done.
type UsageError struct{ Err error }

// Error implements error.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e UsageError) Unwrap() error { return e.Err }

// NotReadyError is the error of a database or a bucket that was waited for.
type NotReadyError struct{ UsageError }

// isNotReady reports whether a database or a bucket may be opened later, without a change of
// the settings.
func isNotReady(err error) bool { return sqldb.IsNotReady(err) || s3.IsNotReady(err) }

// await opens a database or a bucket, which it waits for.
func (o *Opener) await(ctx context.Context, what string, open func() error) error {
	err := open()
	if o.wait == 0 || !isNotReady(err) {
		return err
	}
	o.waiting(what, err)
	for end := o.Now().Add(o.wait); isNotReady(err) && o.Now().Before(end); {
		select {
		case <-time.After(waitInterval):
			err = open()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// Backend is an open database and storage, and the service on top of them.
type Backend struct {
	DB    *store.DB
	Files Files // nil: not open
	*Service
}

// Files is a storage of invoice files.
type Files interface {
	maintenance.Files
	// RemoveStagedFiles removes the staged files last written before a time.
	RemoveStagedFiles(before time.Time) error
	Close() error
}

// NewBackend returns a backend on a database and a storage, which may be nil, with the
// other dependencies in d.
func (o *Opener) NewBackend(db *store.DB, files Files, d Deps) *Backend {
	d.Store, d.Files, d.Now, d.Settings, d.Tracing = db, files, o.Now, o.Settings, o.Tracing
	return &Backend{DB: db, Files: files, Service: NewService(d)}
}

// engines are the kinds of database.
var engines = map[config.DatabaseKind]store.Engine{config.SQLite: store.SQLite, config.Postgres: store.Postgres}

// Engine returns the kind and the address of the database.
func (o *Opener) Engine() (engine store.Engine, address string) {
	at := o.Settings.DatabaseLocation()
	return engines[at.Kind], at.Address
}

// waitInterval is how often a database that is not there yet is tried again.
const waitInterval = time.Second / 2

// OpenDatabase opens the database of the settings. If it cannot be opened, the
// error is a UsageError of its setting.
func (o *Opener) OpenDatabase(ctx context.Context, options store.Options) (*store.DB, error) {
	if options.Schema.NoCreate {
		if err := o.ExpectInstallation(); err != nil {
			return nil, err
		}
	}
	if flag := o.FlagPrefix + "database"; o.Sources != nil && o.Sources.From(flag) != "" {
		options.Reread = func() (string, error) { return o.Sources.Reread(flag) }
	}
	engine, address := o.Engine()
	var db *store.DB
	err := o.await(ctx, "database", func() (err error) {
		db, err = engine.Open(ctx, address, options)
		return err
	})
	if usage, ok := errors.AsType[UsageError](err); ok {
		return nil, usage // of another setting
	}
	if errors.Is(err, migrations.ErrNoSchema) && o.notNew != "" {
		return nil, UsageError{Err: config.Invalid(o.databaseFlag(), o.notNew)}
	}
	if err != nil {
		return nil, o.CannotOpen(ctx, "database", o.Settings.Database, err)
	}
	o.clock = &clock{machine: o.Now}
	o.Now = o.clock.now
	if err := o.clock.compare(ctx, db, nil); err != nil {
		return nil, errors.Join(o.CannotOpen(ctx, "database", o.Settings.Database, err), db.Close())
	}
	return db, nil
}

// OpenFiles opens the storage of the settings. The error is as in OpenDatabase.
// create says whether folders may be created.
func (o *Opener) OpenFiles(ctx context.Context, create bool) (Files, error) {
	bucket, err := o.OpenBucket(ctx)
	if err != nil {
		return nil, err
	}
	return o.openStorage(ctx, bucket, create)
}

// OpenBucket opens and tests the bucket of the settings. It returns nil if the files
// are in a folder.
func (o *Opener) OpenBucket(ctx context.Context) (*s3.Store, error) {
	settings, ok := o.Settings.Bucket()
	if !ok {
		return nil, nil
	}
	bucket, err := o.bucket(settings)
	var store *s3.Store
	if err == nil {
		err = o.await(ctx, "bucket", func() (err error) {
			store, err = s3.Open(ctx, bucket)
			return err
		})
	}
	if err != nil {
		return nil, o.CannotOpen(ctx, "storage", o.Settings.Storage, err)
	}
	return store, nil
}

// What serve and doctor say of a bucket that Overwrites.
const (
	BucketOverwrites = "the storage lets a second file take the place of the first"
	BucketAdvice     = "it ignores If-None-Match, which protects files from being overwritten after a restore of the database: use another server, or a newer version of it"
)

// bucket returns a bucket with its credentials.
func (o *Opener) bucket(settings config.Bucket) (s3.Bucket, error) {
	credentials, err := o.Sources.S3Credentials()
	return s3.Bucket{
		Name: settings.Name, Region: settings.Region, Endpoint: settings.Endpoint, Credentials: s3.Credentials(credentials),
		Reread: func() (s3.Credentials, error) {
			now, err := o.Sources.S3Credentials()
			return s3.Credentials(now), err
		},
		Wrap: o.traceTransport(),
	}, err
}

// BackupPlace returns the place of a backup: the path of a file or folder, or the URL of an
// object, which has the credentials of the storage. Its temporary files are beside the database.
func (o *Opener) BackupPlace(text string) (backup.Place, error) {
	if !config.IsObject(text) {
		return backup.Place{Path: text}, nil
	}
	settings, key, err := config.ParseObject(text)
	if err != nil {
		return backup.Place{}, UsageError{Err: err}
	}
	bucket, err := o.bucket(settings)
	if err != nil {
		return backup.Place{}, err
	}
	folder := o.Settings.Data
	if file := o.Settings.DatabaseLocation().File(); file != "" {
		folder = filepath.Dir(file)
	}
	object, err := s3.OpenObject(bucket, key)
	return backup.Place{Path: filepath.Join(folder, filepath.Base(key)), Object: object}, err
}

// ExpectOutsideFiles returns a UsageError if a path that a command is to write, empty for none, is
// the folder of invoice files, or in it.
func (o *Opener) ExpectOutsideFiles(path string) error {
	if _, bucket := o.Settings.Bucket(); bucket || path == "" {
		return nil
	}
	folder, err := config.Existing(path)
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	files := o.Settings.FilesPath()
	if err != nil || !disk.Contains(files, folder) { // Who writes into the folder has the error.
		return nil
	}
	return UsageError{Err: fmt.Errorf("%s is in the folder of invoice files, %s, where check takes it for an orphan: name a place outside of it", path, files)}
}

// openStorage is OpenFiles with the result of OpenBucket.
func (o *Opener) openStorage(ctx context.Context, bucket *s3.Store, create bool) (Files, error) {
	var opened Files = bucket
	var err error
	switch {
	case bucket == nil:
		opened, err = o.openFolder(ctx, create)
	case create:
		err = bucket.OpenStaging(o.Settings.FilesPath())
	}
	if err != nil {
		return nil, o.CannotOpen(ctx, "storage", o.Settings.Storage, err)
	}
	return opened, nil
}

// openFolder opens the folder of invoice files.
func (o *Opener) openFolder(ctx context.Context, create bool) (Files, error) {
	path := o.Settings.FilesPath()
	if _, err := os.Stat(path); !create && o.Settings.Storage != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s", path)
	}
	files, err := disk.Open(path)
	if err != nil {
		return nil, err
	}
	// A folder that is not writable is a wrong setting. A full disk is not: files
	// can be read and purged.
	if err := filestore.Probe(ctx, files); err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), files.Close())
	}
	return files, nil
}

// CannotOpen returns the UsageError of a setting, or of --data if the setting is
// empty.
func (o *Opener) CannotOpen(ctx context.Context, flag, value string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if errors.Is(err, fs.ErrPermission) && os.Getuid() > 0 {
		// Whoever has run a command as root once has left files of root.
		err = fmt.Errorf("%w; as root, give all to the user of the service: chown -R %d %s", err, os.Getuid(), o.Settings.Data)
	}
	if value == "" {
		flag = "data"
	}
	fault := UsageError{Err: config.Invalid(o.FlagPrefix+flag, OneLine(err.Error()))}
	if o.wait > 0 && isNotReady(err) {
		return NotReadyError{fault}
	}
	return fault
}

// Installation returns what maintenance commands work on.
func (b *Backend) Installation() maintenance.Installation {
	return maintenance.Installation{DB: b.DB.SQL(), Files: b.Files}
}

// Close closes the database and the storage. No operation may be running.
func (b *Backend) Close() error {
	err := b.DB.Close()
	if b.Files != nil {
		err = errors.Join(err, b.Files.Close())
	}
	return err
}

// OneLine makes untrusted text safe for a terminal: it replaces line ends, control
// characters and direction marks by spaces.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		// Direction marks, which can disguise a text, are not printable.
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.TrimSpace(text))
}

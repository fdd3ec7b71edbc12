package commands

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

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
)

// checkFolder examines the data folder and the settings file.
func (d *doctor) checkFolder() {
	info, err := os.Stat(d.Settings.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.add(statusWarning, "data folder", d.Settings.Data+" does not exist", "serve and merchant add create it")
	case err != nil:
		d.problem("data folder", err)
	case info.Mode().Perm()&0o077 != 0:
		d.add(statusWarning, "data folder", fmt.Sprintf("%s is open to other users (%s)", d.Settings.Data, info.Mode().Perm()),
			"run chmod 700 "+d.Settings.Data)
	default:
		d.add(statusOK, "data folder", d.Settings.Data, "")
	}
	for _, file := range d.Sources.SecretFiles() {
		if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o007 != 0 {
			d.add(statusWarning, "secrets", fmt.Sprintf("%s has secrets and is open to all users (%s)", file, info.Mode().Perm()), "run chmod o= "+file)
		}
	}
}

// checkDatabase examines the database: whether it can be opened, its version, the
// rights of the user, and its clock.
func (d *doctor) checkDatabase(ctx context.Context) {
	url, postgres := d.Settings.PostgresURL()
	if !postgres {
		d.checkSQLite(ctx)
		return
	}
	before := d.Now()
	info, err := store.ExaminePostgres(ctx, url)
	if err != nil {
		d.problem("database", d.CannotOpen(ctx, "database", d.Settings.Database, err))
		return
	}
	name := d.Settings.DatabaseName() + ", PostgreSQL " + info.Name
	switch {
	case info.Version < oldestPostgres*10_000:
		d.add(statusProblem, "database", name, fmt.Sprintf("the service needs PostgreSQL %d or later", oldestPostgres))
	case info.ReadOnly:
		d.add(statusProblem, "database", name+" accepts no changes", "name the primary server, not a standby")
	default:
		d.add(statusOK, "database", name, "")
	}
	d.checkSchema(info.Schema)
	switch {
	case len(info.Foreign) > 0:
		d.add(statusProblem, "rights", "the user does not own, or may not read and change: "+strings.Join(info.Foreign, ", "), "run ALTER TABLE ... OWNER TO for each as a superuser")
	case !info.CanCreate:
		d.add(statusProblem, "rights", "the user may not create tables", "run GRANT CREATE ON SCHEMA public as the owner of the database; migrations need it")
	default:
		d.add(statusOK, "rights", "the user may read, change and migrate all tables", "")
	}
	// The statement takes part of the time between the two readings.
	d.checkClock(max(before.Sub(info.Now), info.Now.Sub(d.Now())))
}

// oldestPostgres is the oldest major version of the server that is supported.
const oldestPostgres = 15

const (
	clockWarning = 2 * time.Second
	clockProblem = time.Minute
)

// checkClock compares the clocks of this machine and of the database.
func (d *doctor) checkClock(apart time.Duration) {
	detail := fmt.Sprintf("this machine and the database are %s apart", max(apart, 0).Round(time.Millisecond))
	const advice = "synchronize both with NTP: expiry of tokens, reservations and idempotency records depends on it"
	switch {
	case apart >= clockProblem:
		d.add(statusProblem, "clock", detail, advice)
	case apart >= clockWarning:
		d.add(statusWarning, "clock", detail, advice)
	default:
		d.add(statusOK, "clock", detail, "")
	}
}

func (d *doctor) checkSQLite(ctx context.Context) {
	path, name := d.Settings.DatabasePath(), d.Settings.DatabaseName()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		d.add(statusWarning, "database", name+" does not exist", "serve and merchant add make a new installation in an empty folder")
		return
	}
	schema, err := store.SQLiteSchema(ctx, path)
	if err != nil {
		d.problem("database", d.CannotOpen(ctx, "database", d.Settings.Database, err))
		return
	}
	d.add(statusOK, "database", name, "")
	d.checkSchema(schema)
	for _, needed := range []string{path, filepath.Dir(path)} {
		if err := syscall.Access(needed, accessWrite); err != nil {
			d.add(statusProblem, "rights", needed+" is not writable for this user", "change its owner or its mode")
			return
		}
	}
	d.add(statusOK, "rights", "the user may write the file and its folder", "")
	d.add(statusOK, "clock", "the database has the clock of this machine", "")
}

const accessWrite = 0x2 // of access(2)

// checkSchema compares the schema of the database with this program.
func (d *doctor) checkSchema(schema migrations.Status) {
	version, newest := schema.Version, schema.Newest
	detail := fmt.Sprintf("version %d, this program knows %d", version, newest)
	switch {
	case schema.Foreign != nil:
		d.problem("schema", schema.Foreign)
	case version == 0:
		d.add(statusWarning, "schema", "the database is empty", "serve and merchant add make a new installation")
	case version < newest:
		d.add(statusWarning, "schema", detail, "make a backup, then run migrate or start serve")
	case version > newest:
		d.add(statusProblem, "schema", detail, "serve of this program does not start on it: use the newer program")
	default:
		d.add(statusOK, "schema", detail, "")
	}
}

// checkStorage writes, reads and deletes an object of its own.
func (d *doctor) checkStorage(ctx context.Context) {
	name := d.Settings.StorageName()
	if _, bucket := d.Settings.Bucket(); bucket {
		if _, err := d.OpenBucket(ctx); err != nil {
			d.problem("storage", err)
			return
		}
		d.add(statusOK, "storage", name+": an object was written, read and deleted", "")
		return
	}
	path := d.Settings.FilesPath()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		d.add(statusWarning, "storage", name+" does not exist", "serve creates it")
		return
	}
	if err := disk.Probe(ctx, path); err != nil {
		d.problem("storage", d.CannotOpen(ctx, "storage", d.Settings.Storage, err))
		return
	}
	d.add(statusOK, "storage", name+": a file was written, read and deleted", "")
}

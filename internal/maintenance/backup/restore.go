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
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/sqldb"
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

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	WithFindings bool // restore the backup although the check has findings
	// Partial restores what can be read of a backup that was cut off or damaged: its
	// database must be complete. It implies WithFindings.
	Partial bool
	// OnStep is called after each step that brings the schema of an older backup up
	// to date; nil: not called.
	OnStep func(migrations.Step)
}

// partial is part of the name of what is not complete yet.
const partial = ".partial"

// Restore restores a backup into an empty data folder and checks it before it
// appears there; see check.Run. After findings nothing is restored and the error
// is ErrDamaged, unless the options allow them. After any other error nothing is
// restored either.
func Restore(
	ctx context.Context, from Place, to DataFolder, options RestoreOptions, reporter *maintenance.Reporter,
) (check.Result, error) {
	if err := to.expectEmpty(); err != nil {
		return check.Result{}, err
	}
	if err := to.removePartial(); err != nil {
		return check.Result{}, err
	}
	result, err := to.restore(ctx, from, options, reporter)
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
		if !strings.Contains(name, partial) && !strings.HasSuffix(name, "serve.lock") && name != "lost+found" {
			return fmt.Errorf("the folder %s is not empty: it contains %s", f.Path, name)
		}
	}
	return expectAbsent(f.Database)
}

// removePartial removes what an interrupted restore left behind.
func (f DataFolder) removePartial() error {
	err := os.RemoveAll(f.Files + partial)
	for _, suffix := range []string{"", "-wal", "-shm", ".lock", ".turn.lock"} {
		if removeErr := os.Remove(f.Database + partial + suffix); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}
	return err
}

// restore unpacks and checks the backup under temporary names, then renames
// files and database. The database is last: with it the installation exists.
func (f DataFolder) restore(
	ctx context.Context, from Place, options RestoreOptions, reporter *maintenance.Reporter,
) (check.Result, error) {
	files, err := disk.Open(f.Files + partial)
	if err != nil {
		return check.Result{}, err
	}
	result, err := unpackAndCheck(ctx, from, f.Database+partial, files, options, reporter)
	if err = errors.Join(err, files.Close()); err != nil {
		return result, err
	}
	if result.Findings > 0 && !options.WithFindings && !options.Partial {
		return result, ErrDamaged
	}
	if err := f.expectEmpty(); err != nil {
		return result, err
	}
	for _, name := range []string{f.Files, f.Database} {
		if err := os.Rename(name+partial, name); err != nil {
			return result, err
		}
		if err := disk.Sync(filepath.Dir(name)); err != nil {
			return result, err
		}
	}
	return result, nil
}

// unpackAndCheck unpacks a backup and checks it.
func unpackAndCheck(
	ctx context.Context, from Place, database string, files *disk.Store, options RestoreOptions, reporter *maintenance.Reporter,
) (check.Result, error) {
	u := unpacking{database: database, files: files}
	err := u.unpack(ctx, from)
	if err == nil || options.Partial && errors.Is(err, ErrDamaged) {
		err = u.verify(err, options.Partial, reporter)
	}
	if err != nil {
		return check.Result{}, err
	}
	orders, err := store.OpenSQLite(ctx, database, store.Options{Schema: migrations.Options{NoCreate: true, OnStep: options.OnStep}})
	if newer, ok := errors.AsType[*migrations.NewerSchemaError](err); ok {
		return check.Result{}, fmt.Errorf("the backup was made by a newer version (schema %d, this one knows %d); restore it with that version",
			newer.Version, newer.Known)
	}
	if foreign, ok := errors.AsType[*migrations.ForeignSchemaError](err); ok {
		return check.Result{}, foreign
	}
	if errors.Is(err, sqlite.ErrNoSharedMemory) {
		return check.Result{}, err
	}
	if err != nil {
		return check.Result{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var result check.Result
	db := orders.SQL()
	if err = u.manifest.deleteRemoved(ctx, orders); err == nil {
		result, err = check.Run(ctx, maintenance.Installation{DB: db, Files: files}, check.Options{}, reporter)
	}
	if err = errors.Join(err, renewHistories(ctx, db), db.Close()); err != nil {
		return result, err
	}
	if err := expectAbsent(database + "-wal"); err != nil {
		return result, err
	}
	return result, disk.Sync(database)
}

// deleteRemoved deletes the invoices whose files were removed during the backup, as those who
// removed them did.
func (m Manifest) deleteRemoved(ctx context.Context, orders *store.DB) error {
	for _, file := range m.Removed {
		err := orders.InTx(ctx, func(tx order.Tx) error {
			locked, err := tx.LockOrder(ctx, file.MerchantID, order.ByLegacyID(file.OrderLegacyID))
			if err != nil {
				return err
			}
			return tx.DeleteInvoice(ctx, locked, file.InvoiceID, order.Cause{By: order.System(), At: m.MadeAt})
		})
		if err == nil {
			err = orders.MarkPurged(ctx, order.StoredInvoice{MerchantID: file.MerchantID, OrderLegacyID: file.OrderLegacyID, ID: file.InvoiceID}, m.MadeAt)
		}
		if err != nil {
			return fmt.Errorf("%w: its database has no invoice %d, which its manifest names: %w", ErrDamaged, file.InvoiceID, err)
		}
	}
	return nil
}

// renewHistories gives the events of each merchant, and the feed of all merchants, a new
// history: after the ones in the backup, numbers and positions are given out again.
func renewHistories(ctx context.Context, db sqldb.DB) error {
	return db.InTx(ctx, func(q sqldb.Querier) error {
		_, err := q.Exec(ctx, `UPDATE merchants SET history = lower(hex(randomblob(8)))`)
		return errors.Join(err, store.RenewMarketHistory(ctx, q))
	})
}

// Check checks a backup, in a temporary folder beside it; see check.Run. What is
// missing because the backup was cut off are findings. The error is ErrDamaged if its
// database is not complete.
func Check(ctx context.Context, from Place, reporter *maintenance.Reporter) (result check.Result, err error) {
	if err := from.Find(ctx); err != nil {
		return check.Result{}, err
	}
	temp, remove, err := makeTemp(filepath.Clean(from.Path))
	if err != nil {
		return check.Result{}, fmt.Errorf("the backup cannot be unpacked beside it; copy it to a folder that is writable: %w", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	files, err := disk.Open(filepath.Join(temp, filesName))
	if err != nil {
		return check.Result{}, err
	}
	result, err = unpackAndCheck(ctx, from, filepath.Join(temp, databaseName), files, RestoreOptions{Partial: true}, reporter)
	return result, errors.Join(err, files.Close())
}

// Package backup makes a backup of an embedded installation, which may be in
// use, and restores it. A backup is a snapshot of the data folder: a folder or a
// tar file, perhaps in a bucket, with the database, the invoice files and a manifest.
package backup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/store/sqldb/sqlite"
)

// FilesStage is a stage of maintenance.Reporter.
const FilesStage = "backing up files"

// ErrExists means that a file or folder would be overwritten.
var ErrExists = errors.New("already exists")

// Names in a backup. They are those of a data folder, besides the manifest.
const (
	databaseName = "orders.db"
	filesName    = "files"
	manifestName = "backup.json"
)

// format is the version of the layout that this package writes and reads.
const format = 1

// Manifest describes the contents of a backup. The size and hash of each invoice
// file are in the database.
type Manifest struct {
	Format   int       `json:"format"`
	MadeAt   time.Time `json:"madeAt"`
	MadeBy   string    `json:"madeBy"` // version of the program
	Database struct {
		Size   int64  `json:"size"` // bytes
		SHA256 string `json:"sha256"`
	} `json:"database"`
	Files int64 `json:"files"` // invoice files
	// Removed are the files of the database that were removed on purpose during the backup, so
	// that the backup does not have them. Restore deletes them from its database.
	Removed []RemovedFile `json:"removed,omitempty"`
}

// RemovedFile names an invoice file by the key of its entry.
type RemovedFile struct {
	MerchantID    int64 `json:"merchantId"`
	OrderLegacyID int64 `json:"orderId"`
	InvoiceID     int64 `json:"invoiceId"`
}

// Result is what a backup contains.
type Result struct {
	Manifest
	FileBytes int64 // size of all invoice files
	Findings  int64 // invoice files that are missing or damaged, in the backup too
}

// Create makes a backup of an embedded installation: a tar file if the path ends in
// .tar, .tar.gz or .tgz, or if it is an object, else a folder. It appears when it is complete
// and durable. Create never overwrites anything; it returns ErrExists.
//
// It takes a snapshot of the database first, then copies the files of its
// entries. A file that an erasure, the retention or a purge has removed meanwhile is in
// Manifest.Removed.
//
// Missing and damaged files are findings, not errors.
func Create(
	ctx context.Context, in maintenance.Installation, to Place, now time.Time, version string, reporter *maintenance.Reporter,
) (Result, error) {
	to.Path = filepath.Clean(to.Path)
	if err := to.expectAbsent(ctx); err != nil {
		return Result{}, err
	}
	temp, remove, err := makeTemp(to.Path)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = remove() }() // the next one tries again
	c := &creation{in: in, reporter: reporter}
	c.result.Format, c.result.MadeAt, c.result.MadeBy = format, now.UTC().Truncate(time.Second), version
	err = c.create(ctx, temp, to)
	if errors.Is(err, syscall.ENOSPC) {
		return Result{}, fmt.Errorf("the backup was not written: no space left on the disk of %s; nothing was left behind", to.Path)
	}
	if err != nil {
		return Result{}, err
	}
	c.result.Findings = reporter.Findings()
	return c.result, nil
}

// expectAbsent returns ErrExists if there is anything at a path.
func expectAbsent(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return fmt.Errorf("%s %w", path, ErrExists)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// creation is one backup in progress.
type creation struct {
	in       maintenance.Installation
	reporter *maintenance.Reporter
	writer   writer

	mu      sync.Mutex // guards the rest
	result  Result
	missing []maintenance.InvoiceFile // that the snapshot shows
}

// create makes the backup, with what is not complete in a temporary folder.
func (c *creation) create(ctx context.Context, temp string, to Place) error {
	snapshot := filepath.Join(temp, "snapshot.db")
	if err := c.in.DB.Backup(ctx, snapshot); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if to.Object != nil {
		err := to.Object.Write(ctx, func(out io.Writer) error {
			return c.writeTo(ctx, newTarWriter(out, to.isCompressed(), c.result.MadeAt), snapshot)
		})
		if errors.Is(err, fs.ErrExist) {
			err = cmp.Or(to.expectAbsent(ctx), err)
		}
		return err
	}
	complete := filepath.Join(temp, "complete")
	w, err := newWriter(complete, to, c.result.MadeAt)
	if err != nil {
		return err
	}
	if err := c.writeTo(ctx, w, snapshot); err != nil {
		return err
	}
	if err := to.expectAbsent(ctx); err != nil {
		return err
	}
	if err := os.Rename(complete, to.Path); err != nil {
		return err
	}
	return disk.Sync(filepath.Dir(to.Path))
}

// writeTo writes the backup to a writer and closes it.
func (c *creation) writeTo(ctx context.Context, w writer, snapshot string) error {
	c.writer = w
	if err := c.write(ctx, snapshot); err != nil {
		_ = w.close()
		return err
	}
	return w.close()
}

// write writes the contents of the backup. The database is first: with it, a backup
// that was cut off can be restored in part. The manifest is last.
func (c *creation) write(ctx context.Context, snapshot string) error {
	if err := c.writeDatabase(ctx, snapshot); err != nil {
		return err
	}
	if err := c.writeFiles(ctx, snapshot); err != nil {
		return err
	}
	if err := c.explainMissing(ctx); err != nil {
		return err
	}
	text, err := json.MarshalIndent(c.result.Manifest, "", "  ")
	if err != nil {
		return err
	}
	return c.writer.add(ctx, manifestName, int64(len(text)), bytes.NewReader(text))
}

// writeDatabase writes the snapshot of the database.
func (c *creation) writeDatabase(ctx context.Context, snapshot string) error {
	database, err := os.Open(snapshot)
	if err != nil {
		return err
	}
	defer func() { _ = database.Close() }()
	info, err := database.Stat()
	if err != nil {
		return err
	}
	hash := sha256.New()
	if err := c.writer.add(ctx, databaseName, info.Size(), io.TeeReader(database, hash)); err != nil {
		return err
	}
	c.result.Database.Size, c.result.Database.SHA256 = info.Size(), hex.EncodeToString(hash.Sum(nil))
	return nil
}

// writeFiles writes the invoice files of the snapshot.
func (c *creation) writeFiles(ctx context.Context, snapshot string) error {
	db, err := sqlite.OpenCopy(snapshot)
	if err != nil {
		return err
	}
	return errors.Join(maintenance.EachInvoiceFile(ctx, db, c.reporter, FilesStage, c.writeFile), db.Close())
}

// writeFile writes one file as it is and reports what is wrong with it.
func (c *creation) writeFile(ctx context.Context, file maintenance.InvoiceFile) error {
	content, problem, err := c.read(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		// A purge may have removed a file that was soft-deleted in the snapshot.
		if file.Active {
			c.mu.Lock()
			c.missing = append(c.missing, file)
			c.mu.Unlock()
		}
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.writer.add(ctx, filesName+"/"+file.Path(), int64(len(content)), bytes.NewReader(content)); err != nil {
		return err
	}
	c.mu.Lock()
	c.result.Files++
	c.result.FileBytes += int64(len(content))
	c.mu.Unlock()
	if problem != "" {
		c.reporter.Find(file.Finding(problem, maintenance.CureFile))
	}
	return nil
}

// read returns the content of a file, or fs.ErrNotExist, and what is wrong with it. A
// file has at most order.MaxInvoiceSize bytes, so it fits in memory.
func (c *creation) read(ctx context.Context, file maintenance.InvoiceFile) (content []byte, problem string, err error) {
	stored, err := c.in.Files.Open(ctx, file.Path())
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = stored.Close() }()
	content, err = io.ReadAll(stored)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		return content, "cannot be read: " + err.Error(), nil
	case sha256.Sum256(content) != file.SHA256:
		return content, maintenance.WrongContent, nil
	}
	return content, "", nil
}

// explainMissing tells the files that were removed on purpose from those that are lost: an
// entry is deleted before its file is.
func (c *creation) explainMissing(ctx context.Context) error {
	for _, file := range c.missing {
		current, found, err := file.Reread(ctx, c.in.DB)
		switch {
		case err != nil:
			return err
		case found && current.Active:
			c.reporter.Find(file.Finding("is missing", maintenance.CureFile))
		default:
			c.result.Removed = append(c.result.Removed, RemovedFile{file.MerchantID, file.OrderLegacyID, file.ID})
		}
	}
	return nil
}

package backup

import (
	"bytes"
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
	"time"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/store"
)

// BackUp is a stage of maintenance.Options.Progress.
const BackUp = "backing up files"

// ErrThere says that there is something already where a backup is to be.
var ErrThere = errors.New("is there already")

// BackedUp is what a backup holds.
type BackedUp struct {
	Manifest
	Bytes  int64 // of the invoice files
	Faults int64 // files that are missing or damaged, and so in the backup too
}

// Create makes a copy of an embedded installation, which may be in use, as of one
// moment: a tar file where the name of path ends in .tar, .tar.gz or .tgz, else a
// folder. When it has returned without an error the copy is durable and whole;
// before, nothing is there under that name. What is there is never written over:
// ErrThere.
//
// The database comes first, then the files that its entries speak of: files are
// only ever added, so that those of the earlier moment are there still. Faults
// are told to options; they are no error.
func Create(ctx context.Context, from maintenance.Installation, path string, now time.Time, version string, options maintenance.Options) (BackedUp, error) {
	path = filepath.Clean(path)
	if err := notThere(path); err != nil {
		return BackedUp{}, err
	}
	work, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".partial-")
	if err != nil {
		return BackedUp{}, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	b := &backup{from: from, options: options}
	b.made.Format, b.made.MadeAt, b.made.MadeBy = backupFormat, now.UTC().Truncate(time.Second), version
	finished, err := b.make(ctx, work, path)
	if err != nil {
		return BackedUp{}, err
	}
	if err := notThere(path); err != nil {
		return BackedUp{}, err
	}
	if err := os.Rename(finished, path); err != nil {
		return BackedUp{}, err
	}
	return b.made, syncFolder(filepath.Dir(path))
}

// notThere returns ErrThere when there is something under a path.
func notThere(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return fmt.Errorf("%s %w", path, ErrThere)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// backup is one backup under way.
type backup struct {
	from    maintenance.Installation
	options maintenance.Options
	into    container

	mu    sync.Mutex // guards made and done, and calls of options
	made  BackedUp
	done  int64 // entries looked at
	total int64
}

// make makes the backup for a path below a folder for work, and returns where it
// lies there.
func (b *backup) make(ctx context.Context, work, path string) (string, error) {
	snapshot := filepath.Join(work, "snapshot.db")
	if err := b.from.DB.Backup(ctx, snapshot); err != nil {
		return "", err
	}
	finished := filepath.Join(work, "finished")
	var err error
	if isTar, packed := isArchive(path); isTar {
		b.into, err = newArchive(finished, packed, b.made.MadeAt)
	} else if err = os.Mkdir(finished, 0o700); err == nil {
		b.into, err = newFolder(finished)
	}
	if err != nil {
		return "", err
	}
	if err := b.fill(ctx, snapshot); err != nil {
		b.into.abandon()
		return "", err
	}
	return finished, b.into.finish()
}

// fill puts all that belongs to it into the backup, the manifest last.
func (b *backup) fill(ctx context.Context, snapshot string) error {
	if err := b.addFiles(ctx, snapshot); err != nil {
		return err
	}
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
	if err := b.into.add(ctx, databaseName, info.Size(), io.TeeReader(database, hash)); err != nil {
		return err
	}
	b.made.Database.Size, b.made.Database.SHA256 = info.Size(), hex.EncodeToString(hash.Sum(nil))
	text, err := json.MarshalIndent(b.made.Manifest, "", "  ")
	if err != nil {
		return err
	}
	return b.into.add(ctx, manifestName, int64(len(text)), bytes.NewReader(text))
}

// addFiles adds the files that the entries of the snapshot speak of.
func (b *backup) addFiles(ctx context.Context, snapshot string) error {
	// Opened like any database. Once it is closed all is in the one file again.
	db, err := store.OpenSQLite(ctx, snapshot, store.Options{})
	if err != nil {
		return err
	}
	if b.total, err = db.CountKeptFiles(ctx); err == nil {
		err = check.EachKeptFile(ctx, db, b.addFile)
	}
	return errors.Join(err, db.Close())
}

// addFile adds one file as it is. What is wrong with it is noted.
func (b *backup) addFile(ctx context.Context, file store.KeptFile) error {
	content, problem, err := b.read(ctx, file)
	if err != nil {
		return err
	}
	if content != nil {
		err := b.into.add(ctx, filesName+"/"+file.Path(), int64(len(content)), bytes.NewReader(content))
		if err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if content != nil {
		b.made.Files++
		b.made.Bytes += int64(len(content))
	}
	if problem != "" {
		b.made.Faults++
		if b.options.Found != nil {
			b.options.Found(store.Fault{
				MerchantID: file.MerchantID, OrderNumber: file.OrderLegacyID, InvoiceID: file.ID, Problem: problem,
			})
		}
	}
	b.done++
	if b.options.Progress != nil {
		b.options.Progress(BackUp, b.done, b.total)
	}
	return nil
}

// read returns the content of a file, nil when there is none, and what is wrong
// with it, empty when nothing is. No invoice file is larger than
// order.MaxInvoiceSize, so that it may be held in memory.
func (b *backup) read(ctx context.Context, file store.KeptFile) ([]byte, string, error) {
	stored, err := b.from.Files.Open(ctx, file.Path())
	if errors.Is(err, fs.ErrNotExist) {
		problem, err := b.missing(ctx, file)
		return nil, problem, err
	}
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = stored.Close() }()
	content, err := io.ReadAll(stored)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		return nil, "the file cannot be read: " + err.Error(), nil
	case sha256.Sum256(content) != file.SHA256:
		return content, "the file has another content than its entry says (SHA-256)", nil
	}
	return content, "", nil
}

// missing returns what is wrong when a file is not there. Nothing is when it was
// withdrawn before: then it was purged, or is about to be.
func (b *backup) missing(ctx context.Context, file store.KeptFile) (string, error) {
	if !file.Active {
		return "", nil
	}
	_, kept, err := b.from.DB.KeptFile(ctx, file)
	if kept || err != nil {
		return "the file is missing", err
	}
	return "the file was purged while it was backed up: make the backup again", nil
}

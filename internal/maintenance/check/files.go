package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
)

const (
	// filesAtOnce is how many files are read at the same time: enough to hide
	// the way to a storage elsewhere.
	filesAtOnce = 8
	// entriesAtOnce is how many entries are read at a time.
	entriesAtOnce = 500
)

// Fetch brings a file that is not there, and reports whether it is now.
type Fetch func(ctx context.Context, file store.KeptFile) (bool, error)

// missing is what is said of a file that is not there.
const missing = "the file is missing"

// CheckFiles compares every file that the database's entries speak of with the
// size and the SHA-256 of its entry, and returns the Files and Faults of a
// Result. fetch, where it is not nil, is asked for a file that is missing.
func CheckFiles(ctx context.Context, db *store.DB, files order.Files, options maintenance.Options, fetch Fetch) (Result, error) {
	w := &watcher{Options: options}
	compared, err := checkFiles(ctx, db, files, w, fetch)
	return Result{Files: compared, Faults: w.faults}, err
}

func checkFiles(ctx context.Context, db *store.DB, files order.Files, w *watcher, fetch Fetch) (int64, error) {
	total, err := db.CountKeptFiles(ctx)
	if err != nil {
		return 0, err
	}
	c := &fileCheck{db: db, files: files, watcher: w, fetch: fetch}
	err = EachKeptFile(ctx, db, func(ctx context.Context, file store.KeptFile) error {
		err := c.check(ctx, file)
		w.progress(Bytes, 1, total)
		return err
	})
	return c.compared.Load(), err
}

// EachKeptFile calls fn for every entry whose file is kept, for several at the
// same time.
func EachKeptFile(ctx context.Context, db *store.DB, fn func(context.Context, store.KeptFile) error) error {
	merchants, err := db.Merchants(ctx)
	if err != nil {
		return err
	}
	work, working := errgroup.WithContext(ctx)
	work.SetLimit(filesAtOnce)
	for _, merchant := range merchants {
		for last, more := (store.KeptFile{}), true; more && working.Err() == nil; {
			page, err := db.KeptFiles(working, merchant.ID, last, entriesAtOnce)
			if err != nil {
				work.Go(func() error { return err })
				break
			}
			for _, file := range page {
				work.Go(func() error { return fn(working, file) })
				last = file
			}
			more = len(page) == entriesAtOnce
		}
	}
	return cmp.Or(work.Wait(), ctx.Err())
}

// fileCheck compares files with their entries.
type fileCheck struct {
	db       *store.DB
	files    order.Files
	watcher  *watcher
	fetch    Fetch
	compared atomic.Int64
}

// check compares one file.
func (c *fileCheck) check(ctx context.Context, file store.KeptFile) error {
	problem, err := c.compare(ctx, file)
	if errors.Is(err, fs.ErrNotExist) && c.fetch != nil {
		there, fetchErr := c.fetch(ctx, file)
		if fetchErr != nil {
			return fetchErr
		}
		if there {
			problem, err = c.compare(ctx, file)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && problem == "":
		c.compared.Add(1)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		problem = missing
	case err != nil:
		if out := c.files.Check(ctx); out != nil {
			return out // it is not about this file
		}
		problem = "the file cannot be read: " + err.Error()
	}
	// The entry may have been withdrawn, and its file purged, since it was read.
	now, kept, err := c.db.KeptFile(ctx, file)
	if err != nil || !kept {
		return err
	}
	if problem == missing && !now.Active {
		return nil // a purge that is under way, or was cut off
	}
	c.watcher.found(store.Fault{
		MerchantID: file.MerchantID, OrderNumber: file.OrderLegacyID, InvoiceID: file.ID, Problem: problem,
	})
	return nil
}

// compare returns what is wrong with a file, empty when nothing is.
func (c *fileCheck) compare(ctx context.Context, file store.KeptFile) (string, error) {
	stored, err := c.files.Open(ctx, file.Path())
	if err != nil {
		return "", err
	}
	defer func() { _ = stored.Close() }()
	hash := sha256.New()
	size, err := io.Copy(hash, stored)
	switch {
	case err != nil:
		return "", err
	case size != file.Size:
		return fmt.Sprintf("the file has %d bytes, its entry says %d", size, file.Size), nil
	case [sha256.Size]byte(hash.Sum(nil)) != file.SHA256:
		return "the file has another content than its entry says (SHA-256)", nil
	}
	return "", nil
}

// EachLeftover calls fn for every stored file that no entry needs, with the
// reference of the order in whose folder it lies, empty for one elsewhere, and
// whether it is the file of an entry that was purged.
func EachLeftover(ctx context.Context, db *store.DB, files maintenance.Files, fn func(path, reference string, purged bool) error) error {
	return files.Each(ctx, func(path string) error {
		reference, name, ours := splitPath(path)
		if !ours {
			return fn(path, "", false)
		}
		state, err := db.FileState(ctx, reference, name)
		if err != nil || state == store.WantedFile {
			return err
		}
		// It may have gone with its entry since it was listed.
		file, err := files.Open(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			_ = file.Close()
		}
		return fn(path, reference, state == store.PurgedFile)
	})
}

// leftovers counts the files that no entry needs, by order reference.
func leftovers(ctx context.Context, db *store.DB, files maintenance.Files) (map[string]int64, error) {
	found := make(map[string]int64)
	err := EachLeftover(ctx, db, files, func(_, reference string, _ bool) error {
		found[reference]++
		return nil
	})
	return found, err
}

// splitPath returns the order reference and the name in an invoice file's path,
// and whether it is one.
func splitPath(path string) (string, string, bool) {
	rest, ours := strings.CutPrefix(path, "invoices/")
	reference, name, below := strings.Cut(rest, "/")
	if !ours || !below || !order.ValidReference(reference) || order.InvoicePath(reference, name) != path ||
		!utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return "", "", false
	}
	return reference, name, true
}

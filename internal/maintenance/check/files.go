package check

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"

	"merchantorders/internal/maintenance"
)

// Mend puts a file that is missing or damaged into the storage. It reports whether
// it has done so.
type Mend func(ctx context.Context, file maintenance.InvoiceFile, missing bool) (bool, error)

// Files compares every invoice file with the size and the SHA-256 of its entry
// and returns how many match. Missing and damaged files are mended if mend is not nil.
func Files(ctx context.Context, in maintenance.Installation, reporter *maintenance.Reporter, mend Mend) (int64, error) {
	var matching atomic.Int64
	err := maintenance.EachInvoiceFile(ctx, in.DB, reporter, FilesStage, func(ctx context.Context, file maintenance.InvoiceFile) error {
		problem, err := compareFile(ctx, in.Files, file)
		missing := errors.Is(err, fs.ErrNotExist)
		if mend != nil && (missing || problem != "") {
			mended, mendErr := mend(ctx, file, missing)
			if mendErr != nil {
				return mendErr
			}
			if mended {
				problem, err = compareFile(ctx, in.Files, file)
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && problem == "":
			matching.Add(1)
			return nil
		}
		return reportFile(ctx, in, reporter, file, problem, err)
	})
	return matching.Load(), err
}

// reportFile reports that a file differs from its entry or could not be read.
func reportFile(
	ctx context.Context, in maintenance.Installation, reporter *maintenance.Reporter, file maintenance.InvoiceFile, problem string, err error,
) error {
	missing, cure := errors.Is(err, fs.ErrNotExist), maintenance.CureFile
	if missing {
		problem = "is missing"
	} else if err != nil {
		if storageErr := in.Files.Check(ctx); storageErr != nil {
			return storageErr // the problem is not about this file
		}
		problem, cure = "cannot be read: "+err.Error(), "look at the disk or the storage, then check again"
	}
	// The file may have been deleted and purged since the entry was read.
	current, found, err := file.Reread(ctx, in.DB)
	if err != nil || !found {
		return err
	}
	if missing && !current.Active {
		return nil // a purge is in progress or was interrupted
	}
	reporter.Find(file.Finding(problem, cure))
	return nil
}

// compareFile returns how a file differs from its entry; empty if it does not.
func compareFile(ctx context.Context, files maintenance.Files, file maintenance.InvoiceFile) (string, error) {
	stored, err := files.Open(ctx, file.Path())
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
		return fmt.Sprintf("has %d bytes, but its entry says %d", size, file.Size), nil
	case [sha256.Size]byte(hash.Sum(nil)) != file.SHA256:
		return maintenance.WrongContent, nil
	}
	return "", nil
}

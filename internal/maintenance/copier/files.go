package copier

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sync/errgroup"

	"merchantorders/internal/maintenance"
)

// copyFiles copies those of some files that the target lacks. It does nothing
// if the target has no storage.
func (j *job) copyFiles(ctx context.Context, files []maintenance.InvoiceFile) error {
	if j.target.Files == nil {
		return nil
	}
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(maintenance.MaxParallelFiles)
	for _, file := range files {
		workers.Go(func() error {
			_, err := j.copyFile(ctx, file)
			return err
		})
	}
	return workers.Wait()
}

// copyFile copies a file unless the target has it, and reports whether it has
// it then. It does not copy a file that is missing or damaged in the source;
// the verification of the target finds that. It never overwrites a file.
func (j *job) copyFile(ctx context.Context, file maintenance.InvoiceFile) (bool, error) {
	existing, err := j.target.Files.Open(ctx, file.Path())
	if err == nil {
		return true, existing.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	content, err := j.source.Files.Open(ctx, file.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = content.Close() }()
	staged, err := j.target.Files.Stage(ctx)
	if err != nil {
		return false, err
	}
	defer staged.Abort()
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(staged, hash), content)
	if err != nil {
		return false, err
	}
	if size != file.Size || [sha256.Size]byte(hash.Sum(nil)) != file.SHA256 {
		return false, nil
	}
	if err := staged.Commit(ctx, file.Path()); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	j.filesCopied.Add(1)
	return true, nil
}

// removePurgedFiles removes files that an earlier copy wrote to the target and
// that were purged in the source since. No purge of the target would find them.
func (j *job) removePurgedFiles(ctx context.Context) error {
	return j.verified().EachOrphan(ctx, func(orphan maintenance.Orphan) error {
		if !orphan.Purged {
			return nil
		}
		j.result.FilesPurged++
		return j.target.Files.Remove(ctx, orphan.Path)
	})
}

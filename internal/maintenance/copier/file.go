package copier

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sync/errgroup"

	"merchantorders/internal/store"
)

// filesAtOnce is how many files are copied at the same time.
const filesAtOnce = 8

// bringAll copies files that the target does not have, where files are copied at
// all.
func (c *copier) bringAll(ctx context.Context, files []store.KeptFile) error {
	if c.to.Files == nil {
		return nil
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(filesAtOnce)
	for _, file := range files {
		work.Go(func() error {
			_, err := c.bring(ctx, file)
			return err
		})
	}
	return work.Wait()
}

// bring copies a file that the target does not have, and reports whether it is
// there now. One that is missing or damaged in the source is left out: that it is
// not in the target is found when that is verified. What the target has is never
// written over.
func (c *copier) bring(ctx context.Context, file store.KeptFile) (bool, error) {
	there, err := c.to.Files.Open(ctx, file.Path())
	if err == nil {
		return true, there.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	source, err := c.from.Files.Open(ctx, file.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = source.Close() }()
	draft, err := c.to.Files.Stage(ctx)
	if err != nil {
		return false, err
	}
	defer draft.Abort()
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(draft, hash), source)
	if err != nil {
		return false, err
	}
	if size != file.Size || [sha256.Size]byte(hash.Sum(nil)) != file.SHA256 {
		return false, nil
	}
	if err := draft.Commit(ctx, file.Path()); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	c.files.Add(1)
	return true, nil
}

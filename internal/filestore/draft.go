package filestore

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"merchantorders/internal/order"
)

// draftFolder holds the drafts, each under draftPrefix and random letters.
const (
	draftFolder = "tmp"
	draftPrefix = "draft-"
)

// isDraft reports whether an entry of draftFolder was made by Disk.Draft.
func isDraft(entry fs.DirEntry) bool {
	return entry.Type().IsRegular() && strings.HasPrefix(entry.Name(), draftPrefix)
}

// draft is a file in draftFolder. Its zero file says that it was published or
// discarded.
type draft struct {
	disk   *Disk
	name   string
	file   *os.File
	failed error // of the first write that failed
}

// Stage implements order.Files.
func (d *Disk) Stage(ctx context.Context) (order.StagedFile, error) {
	opened, err := d.openDraft(ctx)
	if err != nil {
		return nil, err
	}
	return opened, nil
}

func (d *Disk) openDraft(ctx context.Context) (*draft, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := path.Join(draftFolder, draftPrefix+rand.Text())
	file, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, fault("open a draft", err)
	}
	return &draft{disk: d, name: name, file: file}, nil
}

// Write implements io.Writer. After an error the draft can only be discarded.
func (d *draft) Write(p []byte) (int, error) {
	if d.file == nil {
		return 0, fault("write a draft", fs.ErrClosed)
	}
	n, err := d.file.Write(p)
	if err != nil {
		d.failed = fault("write a draft", err)
		return n, d.failed
	}
	return n, nil
}

// Commit implements order.StagedFile. A file that is there already stays as it is,
// and the error is fs.ErrExist.
func (d *draft) Commit(ctx context.Context, name string) error {
	defer d.Abort()
	if err := d.publishable(ctx, name); err != nil {
		return err
	}
	// The bytes must be durable before a name leads to them: the other way
	// round a power cut could leave a stored file that is empty or cut off.
	if err := d.file.Sync(); err != nil {
		return fault("make a draft durable", err)
	}
	if err := d.file.Close(); err != nil {
		return fault("close a draft", err)
	}
	return d.disk.place(d.name, name)
}

// publishable returns why the draft cannot be published under a name.
func (d *draft) publishable(ctx context.Context, name string) error {
	switch {
	case d.file == nil:
		return fault("publish a draft", fs.ErrClosed)
	case ctx.Err() != nil:
		return ctx.Err()
	case !validPath(name):
		return fault("publish a draft", fs.ErrInvalid)
	case d.failed != nil:
		return fmt.Errorf("publish an incomplete draft: %w", d.failed)
	}
	return nil
}

// Abort implements order.StagedFile.
func (d *draft) Abort() {
	if d.file == nil {
		return
	}
	// Commit has closed the file already, and its rename may have moved it. A
	// draft that cannot be removed is cleared at the next start.
	_ = d.file.Close()
	_ = d.disk.root.Remove(d.name)
	d.file = nil
}

// place gives a draft its final name, durably. After an error there is nothing
// under that name, unless it was there before.
func (d *Disk) place(draft, name string) error {
	if err := d.root.MkdirAll(path.Dir(name), folderMode); err != nil {
		return fault("make the folder of a file", err)
	}
	if err := d.rename(draft, name); err != nil {
		return fault("publish a draft", err)
	}
	if err := d.syncFolders(path.Dir(name)); err != nil {
		_ = d.root.Remove(name)
		_ = d.syncFolder(path.Dir(name))
		return fault("make a published file durable", err)
	}
	return nil
}

// rename moves a draft to its final name unless there is a file: a rename by
// itself would replace it. The look and the move are one step to this process
// only. That is enough, as the database gives every file a name of its own.
func (d *Disk) rename(draft, name string) error {
	d.renames.Lock()
	defer d.renames.Unlock()
	_, err := d.root.Lstat(name)
	if err == nil {
		return fs.ErrExist
	}
	if !isMissing(err) {
		return err
	}
	return d.root.Rename(draft, name)
}

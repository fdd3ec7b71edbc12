package filestore

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"merchantorders/internal/order"
)

// fileMode and folderMode keep what is stored from other users of the machine.
const (
	fileMode   = 0o600
	folderMode = 0o700
)

// Disk keeps files in a folder of the local file system. It may be used from
// any number of goroutines. Drafts lie in the folder tmp below it, so that
// publishing one is a rename within one file system.
type Disk struct {
	root *os.Root // no path leaves the folder, not by .. and not by a link

	renames sync.Mutex // held between the look at a name and the rename to it
}

var _ order.Files = (*Disk)(nil)

// OpenDisk opens the folder dir as a store and makes it if it is not there.
func OpenDisk(dir string) (*Disk, error) {
	if err := makeDurable(filepath.Clean(dir)); err != nil {
		return nil, fault("make the folder for files", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault("open the folder for files", err)
	}
	disk := &Disk{root: root}
	if err := root.MkdirAll(draftFolder, folderMode); err != nil {
		_ = root.Close()
		return nil, fault("make the folder for drafts", err)
	}
	return disk, nil
}

// Close lets go of the folder. Files that are open stay usable.
func (d *Disk) Close() error { return d.root.Close() }

// Open implements order.Files.
func (d *Disk) Open(ctx context.Context, name string) (order.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !validPath(name) {
		return nil, fault("open a stored file", fs.ErrNotExist)
	}
	file, err := d.root.Open(name)
	if isMissing(err) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fault("open a stored file", err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		_ = file.Close()
		return nil, fault("open a stored file", err)
	}
	return file, nil
}

// Remove implements order.Files. The folder of the file stays.
func (d *Disk) Remove(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !validPath(name) {
		return fault("remove a stored file", fs.ErrInvalid)
	}
	if err := d.root.Remove(name); err != nil && !isMissing(err) {
		return fault("remove a stored file", err)
	}
	// The removal must outlive a power cut as the note of it does: a file that
	// came back would lie in the way of the next one with its name. Done also
	// when the file was gone, as an earlier call may have failed right here.
	if err := d.syncFolder(path.Dir(name)); err != nil && !isMissing(err) {
		return fault("make the removal durable", err)
	}
	return nil
}

// Normalize implements order.Files: it writes a block and takes it back.
func (d *Disk) Check(ctx context.Context) error {
	draft, err := d.Stage(ctx)
	if err != nil {
		return err
	}
	defer draft.Abort()
	if _, err := draft.Write(make([]byte, 4096)); err != nil {
		return err
	}
	return nil
}

// RemoveStagedFiles removes the drafts last written before a moment: what a crash
// left behind. It goes on past one that cannot be removed and returns the
// first such error.
func (d *Disk) RemoveStagedFiles(before time.Time) error {
	folder, err := d.root.Open(draftFolder)
	if err != nil {
		return fault("look for drafts", err)
	}
	defer func() { _ = folder.Close() }()
	entries, err := folder.ReadDir(-1)
	if err != nil {
		return fault("look for drafts", err)
	}
	var first error
	for _, entry := range entries {
		if err := d.clearDraft(entry, before); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// clearDraft removes one draft if it is old. What is no draft is left alone.
func (d *Disk) clearDraft(entry fs.DirEntry, before time.Time) error {
	if !isDraft(entry) {
		return nil
	}
	info, err := entry.Info()
	if err == nil && info.ModTime().Before(before) {
		err = d.root.Remove(path.Join(draftFolder, entry.Name()))
	}
	// A draft that is gone was published or discarded meanwhile.
	if err != nil && !isMissing(err) {
		return fmt.Errorf("clear the draft %s: %w", entry.Name(), bare(err))
	}
	return nil
}

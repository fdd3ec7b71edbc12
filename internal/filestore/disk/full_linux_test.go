package disk_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/filestore/filestoretest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestDiskFull fills a file system of 256 KiB and 32 files: with bytes, and with files.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if !testenv.MayMount(t) {
		return
	}
	dir := t.TempDir()
	testenv.SmallDisk(t, dir, "size=256k,nr_inodes=32")
	files := openDisk(t, dir)
	for _, step := range []func(t *testing.T, files *disk.Store, dir string){fullOfBytes, freeAgain, fullOfFiles, freeAgain} {
		step(t, files, dir)
		wantNoStagedFiles(t, dir)
	}
}

// staged returns a staged file with content.
func staged(t *testing.T, files *disk.Store, content []byte) order.StagedFile {
	t.Helper()
	file := testenv.Of(files.Stage(t.Context())).Must(t)
	testenv.Of(file.Write(content)).Must(t)
	return file
}

// wantNoSpace checks that a staged file cannot be committed.
func wantNoSpace(t *testing.T, files *disk.Store, file order.StagedFile, path string) {
	t.Helper()
	testenv.Equal[error](t, "commit", syscall.ENOSPC, file.Commit(t.Context(), path))
	testenv.Of(files.Open(t.Context(), path)).WantError(t, "open "+path, fs.ErrNotExist)
	file.Abort()
}

// fullOfBytes writes a staged file until the disk is full.
func fullOfBytes(t *testing.T, files *disk.Store, _ string) {
	file := staged(t, files, nil)
	var err error
	for err == nil {
		_, err = file.Write(make([]byte, 48<<10))
	}
	testenv.Equal[error](t, "write", syscall.ENOSPC, err)
	testenv.Equal[error](t, "check", syscall.ENOSPC, files.Check(t.Context()))
	wantNoSpace(t, files, file, order.InvoicePath("SF-full", "a.pdf"))
}

// fullOfFiles uses every inode while a file is staged: there is none for the order's
// folder.
func fullOfFiles(t *testing.T, files *disk.Store, dir string) {
	file := staged(t, files, []byte("content"))
	var err error
	for i := 0; err == nil; i++ {
		junk := filepath.Join(dir, "junk"+strconv.Itoa(i))
		err = os.WriteFile(junk, nil, 0o600)
		defer func() { _ = os.Remove(junk) }()
	}
	wantNoSpace(t, files, file, order.InvoicePath("SF-no-inode", "a.pdf"))
	_, err = files.Stage(t.Context()) // the aborted file takes no inode
	testenv.NoError(t, err)
	testenv.NoError(t, files.RemoveStagedFiles(farFuture))
}

// freeAgain stores a file and removes it.
func freeAgain(t *testing.T, files *disk.Store, _ string) {
	testenv.NoError(t, files.Check(t.Context()))
	file := staged(t, files, make([]byte, 100<<10))
	defer file.Abort()
	path := order.InvoicePath("SF-room", "a.pdf")
	testenv.NoError(t, file.Commit(t.Context(), path))
	testenv.NoError(t, files.Remove(t.Context(), path))
}

// TestInvoicesOnAnotherDisk has the folder of invoice files on a file system of its own, once
// mounted and once behind a link.
func TestInvoicesOnAnotherDisk(t *testing.T) {
	t.Parallel()
	if !testenv.MayMount(t) {
		return
	}
	for name, move := range map[string]func(t *testing.T, dir string){
		"mounted": func(t *testing.T, dir string) { testenv.SmallDisk(t, filepath.Join(dir, "invoices"), "size=64m") },
		"linked": func(t *testing.T, dir string) {
			disk := t.TempDir()
			testenv.SmallDisk(t, disk, "size=64m")
			testenv.NoError(t, os.Symlink(disk, filepath.Join(dir, "invoices")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			filestoretest.Run(t, func(t *testing.T) filestoretest.Files {
				dir := t.TempDir()
				move(t, dir)
				t.Cleanup(func() { wantNoStagedFiles(t, dir) })
				files := openDisk(t, dir)
				testenv.NoError(t, filestore.Probe(t.Context(), files))
				return files
			})
		})
	}
}

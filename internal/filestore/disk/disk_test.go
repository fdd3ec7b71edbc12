package disk_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/filestore/filestoretest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// farFuture is after every modification time.
var farFuture = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

func TestDisk(t *testing.T) {
	t.Parallel()
	filestoretest.Run(t, func(t *testing.T) filestoretest.Files {
		dir := t.TempDir()
		t.Cleanup(func() { wantNoStagedFiles(t, dir) })
		return openDisk(t, dir)
	})
}

func TestOpenDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data", "files") + "/"
	path := order.InvoicePath("SF-1", "a.pdf")
	store(t, openDisk(t, dir), path, "content")
	// A reopened store has the files.
	wantFile(t, openDisk(t, dir), path, "content")

	existing := filepath.Join(t.TempDir(), "file")
	testenv.NoError(t, os.WriteFile(existing, nil, 0o600))
	if files, err := disk.Open(existing); err == nil {
		_ = files.Close()
		t.Error("a file was opened as a folder")
	}
}

func TestDiskHidesStagedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := openDisk(t, dir)
	staged := testenv.Of(files.Stage(t.Context())).Must(t)
	defer staged.Abort()
	entries, err := os.ReadDir(filepath.Join(dir, "tmp"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("staged files: %v, %v, want 1", entries, err)
	}
	path := "tmp/" + entries[0].Name()
	wantFile(t, files, path, "")
	testenv.Equal(t, "remove a staged file by path", fs.ErrInvalid, files.Remove(t.Context(), path))
	testenv.Equal(t, "commit to the staging directory", fs.ErrInvalid, staged.Commit(t.Context(), "tmp/a.pdf"))
}

func TestDiskStaysInside(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	files := openDisk(t, dir)
	testenv.NoError(t, os.WriteFile(filepath.Join(outside, "a.pdf"), []byte("secret"), 0o600))
	testenv.NoError(t, os.Symlink(outside, filepath.Join(dir, "invoices", "SF-1")))
	if file, err := files.Open(t.Context(), order.InvoicePath("SF-1", "a.pdf")); err == nil {
		_ = file.Close()
		t.Error("a file outside the folder was opened")
	}
	if err := files.Remove(t.Context(), order.InvoicePath("SF-1", "a.pdf")); err == nil {
		t.Error("a file outside the folder was removed")
	}
	staged := testenv.Of(files.Stage(t.Context())).Must(t)
	if err := staged.Commit(t.Context(), order.InvoicePath("SF-1", "b.pdf")); err == nil {
		t.Error("a file was committed outside the folder")
	}
	testenv.Of(filepath.Glob(outside+"/*")).Want(t, "outside", []string{filepath.Join(outside, "a.pdf")})
}

func TestDiskErrorsNameNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := openDisk(t, dir)
	const name = "Papadopoulou.pdf"
	path := order.InvoicePath("SF-1", name)
	store(t, files, path, "content")
	staged := testenv.Of(files.Stage(t.Context())).Must(t)
	_, missingErr := files.Open(t.Context(), order.InvoicePath("SF-2", name))
	for what, err := range map[string]error{
		"commit over a file":  staged.Commit(t.Context(), path),
		"open a missing file": missingErr,
		"remove a folder":     files.Remove(t.Context(), "invoices/SF-1"),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		} else if text := err.Error(); strings.Contains(text, name) || strings.Contains(text, "SF-") || strings.Contains(text, dir) {
			t.Errorf("%s: the error %q reveals the path", what, text)
		}
	}
}

func TestRemoveStagedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := order.InvoicePath("SF-1", "a.pdf")
	store(t, openDisk(t, dir), path, "content")
	before := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	leave := func(name string, at time.Time) {
		t.Helper()
		left := filepath.Join(dir, "tmp", name)
		testenv.NoError(t, os.WriteFile(left, []byte("half"), 0o600))
		testenv.NoError(t, os.Chtimes(left, at, at))
	}
	leave("staged-OLD", before.Add(-time.Second))
	leave("staged-ON-THE-DOT", before)
	leave("staged-YOUNG", before.Add(time.Second))
	leave("other-file", before.Add(-time.Hour))

	files := openDisk(t, dir)
	testenv.NoError(t, files.RemoveStagedFiles(before))
	testenv.Equal(t, "left in the staging directory", []string{"other-file", "staged-ON-THE-DOT", "staged-YOUNG"}, stagedFiles(t, dir))
	wantFile(t, files, path, "content")
	testenv.NoError(t, files.RemoveStagedFiles(farFuture))
	testenv.Equal(t, "left in the staging directory", []string{"other-file"}, stagedFiles(t, dir))
}

// TestMovedInvoices moves the folder of invoice files and leaves a link; then the link leads
// nowhere.
func TestMovedInvoices(t *testing.T) {
	t.Parallel()
	dir, moved := t.TempDir(), filepath.Join(t.TempDir(), "moved")
	old, added := order.InvoicePath("SF-1", "a.pdf"), order.InvoicePath("SF-1", "b.pdf")
	store(t, openDisk(t, dir), old, "content")
	testenv.NoError(t, os.Rename(filepath.Join(dir, "invoices"), moved))
	testenv.NoError(t, os.Symlink(moved, filepath.Join(dir, "invoices")))
	files := openDisk(t, dir)
	wantFile(t, files, old, "content")
	store(t, files, added, "more")
	wantFile(t, files, added, "more")
	var all []string
	testenv.NoError(t, files.Each(t.Context(), func(path string) error { all = append(all, path); return nil }))
	testenv.Equal(t, "stored files", []string{old, added}, all)
	testenv.NoError(t, os.RemoveAll(moved))
	if _, err := disk.Open(dir); err == nil || !strings.Contains(err.Error(), "leads to no folder") {
		t.Errorf("the link leads nowhere: %v", err)
	}
}

// TestRemovedStaging removes the staging directory of an open store.
func TestRemovedStaging(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := openDisk(t, dir)
	testenv.NoError(t, os.Remove(filepath.Join(dir, "tmp")))
	store(t, files, "invoices/a.pdf", "a")
	wantFile(t, files, "invoices/a.pdf", "a")
}

package filestore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/filestoretest"
	"merchantorders/internal/order"
)

// farFuture is later than any file was written.
var farFuture = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

func TestDisk(t *testing.T) {
	t.Parallel()
	filestoretest.Run(t, func(t *testing.T) order.Files {
		dir := t.TempDir()
		t.Cleanup(func() { wantNoDrafts(t, dir) })
		return openDisk(t, dir)
	})
}

func TestOpenDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data", "files") + "/"
	path := order.InvoicePath("SF-1", "a.pdf")
	store(t, openDisk(t, dir), path, "content")
	// Opened again, it has what was stored.
	wantFile(t, openDisk(t, dir), path, "content")

	inTheWay := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if disk, err := filestore.OpenDisk(inTheWay); err == nil {
		_ = disk.Close()
		t.Error("a file was opened as a store")
	}
}

func TestDiskModes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	store(t, openDisk(t, dir), order.InvoicePath("SF-1", "a.pdf"), "content")
	got := make(map[string]fs.FileMode)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		got[strings.TrimPrefix(path, dir)] = info.Mode()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	folder := fs.ModeDir | 0o700
	want := map[string]fs.FileMode{
		"": folder, "/tmp": folder, "/invoices": folder, "/invoices/SF-1": folder, "/invoices/SF-1/a.pdf": 0o600,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
}

func TestDiskHidesDrafts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := openDisk(t, dir)
	draft, err := disk.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer draft.Abort()
	entries, err := os.ReadDir(filepath.Join(dir, "tmp"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("drafts: %v, %v, want 1", entries, err)
	}
	path := "tmp/" + entries[0].Name()
	wantFile(t, disk, path, "")
	if err := disk.Remove(t.Context(), path); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("remove a draft by path: %v, want fs.ErrInvalid", err)
	}
	if err := draft.Commit(t.Context(), "tmp/a.pdf"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("publish among the drafts: %v, want fs.ErrInvalid", err)
	}
}

func TestDiskStaysInside(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	disk := openDisk(t, dir)
	if err := os.WriteFile(filepath.Join(outside, "a.pdf"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "invoices"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "invoices", "SF-1")); err != nil {
		t.Fatal(err)
	}
	if file, err := disk.Open(t.Context(), order.InvoicePath("SF-1", "a.pdf")); err == nil {
		_ = file.Close()
		t.Error("a file outside the folder was opened")
	}
	if err := disk.Remove(t.Context(), order.InvoicePath("SF-1", "a.pdf")); err == nil {
		t.Error("a file outside the folder was removed")
	}
	draft, err := disk.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := draft.Commit(t.Context(), order.InvoicePath("SF-1", "b.pdf")); err == nil {
		t.Error("a file was published outside the folder")
	}
	left, err := filepath.Glob(outside + "/*")
	if diff := cmp.Diff([]string{filepath.Join(outside, "a.pdf")}, left); diff != "" || err != nil {
		t.Errorf("outside (-want +got), %v:\n%s", err, diff)
	}
}

func TestDiskErrorsNameNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := openDisk(t, dir)
	const name = "Papadopoulou.pdf"
	path := order.InvoicePath("SF-1", name)
	store(t, disk, path, "content")
	draft, err := disk.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, missingErr := disk.Open(t.Context(), order.InvoicePath("SF-2", name))
	for what, err := range map[string]error{
		"publish over a file": draft.Commit(t.Context(), path),
		"open a missing file": missingErr,
		"remove what is full": disk.Remove(t.Context(), "invoices/SF-1"),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		} else if text := err.Error(); strings.Contains(text, name) || strings.Contains(text, "SF-") || strings.Contains(text, dir) {
			t.Errorf("%s: the error %q tells the path", what, text)
		}
	}
}

func TestClearDrafts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := order.InvoicePath("SF-1", "a.pdf")
	store(t, openDisk(t, dir), path, "content")
	before := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	leave := func(name string, at time.Time) {
		t.Helper()
		left := filepath.Join(dir, "tmp", name)
		if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(left, at, at); err != nil {
			t.Fatal(err)
		}
	}
	leave("draft-OLD", before.Add(-time.Second))
	leave("draft-ON-THE-DOT", before)
	leave("draft-YOUNG", before.Add(time.Second))
	leave("not-ours", before.Add(-time.Hour))

	disk := openDisk(t, dir)
	if err := disk.RemoveStagedFiles(before); err != nil {
		t.Fatalf("clear: %v", err)
	}
	if diff := cmp.Diff([]string{"draft-ON-THE-DOT", "draft-YOUNG", "not-ours"}, drafts(t, dir)); diff != "" {
		t.Errorf("left among the drafts (-want +got):\n%s", diff)
	}
	wantFile(t, disk, path, "content")
	if err := disk.RemoveStagedFiles(farFuture); err != nil {
		t.Fatalf("clear: %v", err)
	}
	if diff := cmp.Diff([]string{"not-ours"}, drafts(t, dir)); diff != "" {
		t.Errorf("left among the drafts (-want +got):\n%s", diff)
	}
}

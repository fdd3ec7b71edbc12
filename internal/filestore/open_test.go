package filestore_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"merchantorders/internal/filestore"
)

// openDisk opens a folder as a store until the test ends.
func openDisk(t *testing.T, dir string) *filestore.Disk {
	t.Helper()
	disk, err := filestore.OpenDisk(dir)
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() {
		if err := disk.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return disk
}

// store publishes content under path.
func store(t *testing.T, disk *filestore.Disk, path, content string) {
	t.Helper()
	draft, err := disk.Stage(t.Context())
	if err != nil {
		t.Fatalf("open a draft: %v", err)
	}
	defer draft.Abort()
	if _, err := io.WriteString(draft, content); err != nil {
		t.Fatalf("write: %v", err)
	}
	if err := draft.Commit(t.Context(), path); err != nil {
		t.Fatalf("publish %q: %v", path, err)
	}
}

// wantFile fails the test unless path holds content; empty content means that
// there is nothing.
func wantFile(t *testing.T, disk *filestore.Disk, path, content string) {
	t.Helper()
	file, err := disk.Open(t.Context(), path)
	if content == "" {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %q: %v, want fs.ErrNotExist", path, err)
		}
		return
	}
	if err != nil {
		t.Errorf("open %q: %v", path, err)
		return
	}
	defer func() { _ = file.Close() }()
	if got, err := io.ReadAll(file); string(got) != content || err != nil {
		t.Errorf("%q holds %q, %v, want %q", path, got, err, content)
	}
}

// drafts returns the names of what lies among the drafts.
func drafts(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "tmp"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// noDrafts returns an error if a draft is left.
func noDrafts(dir string) error {
	entries, err := os.ReadDir(filepath.Join(dir, "tmp"))
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%d drafts are left", len(entries))
	}
	return nil
}

// wantNoDrafts fails the test if a draft is left.
func wantNoDrafts(t *testing.T, dir string) {
	t.Helper()
	if err := noDrafts(dir); err != nil {
		t.Error(err)
	}
}

package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/testenv"
)

// openDisk opens a folder as a store until the test ends.
func openDisk(t *testing.T, dir string) *disk.Store {
	t.Helper()
	files := testenv.Must(disk.Open(dir))(t)
	t.Cleanup(func() { testenv.NoError(t, files.Close()) })
	return files
}

// store commits content under path.
func store(t *testing.T, files *disk.Store, path, content string) {
	t.Helper()
	staged := testenv.Must(files.Stage(t.Context()))(t)
	defer staged.Abort()
	if _, err := io.WriteString(staged, content); err != nil {
		t.Fatalf("write: %v", err)
	}
	if err := staged.Commit(t.Context(), path); err != nil {
		t.Fatalf("commit %q: %v", path, err)
	}
}

// wantFile fails the test unless the file at path has this content; empty
// content means that there must be no file.
func wantFile(t *testing.T, files *disk.Store, path, content string) {
	t.Helper()
	file, err := files.Open(t.Context(), path)
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
		t.Errorf("%q contains %q, %v, want %q", path, got, err, content)
	}
}

// stagedFiles returns the names in the staging directory.
func stagedFiles(t *testing.T, dir string) []string {
	t.Helper()
	entries := testenv.Must(os.ReadDir(filepath.Join(dir, "tmp")))(t)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// wantNoStagedFiles fails the test if a staged file is left.
func wantNoStagedFiles(t *testing.T, dir string) {
	t.Helper()
	if left := stagedFiles(t, dir); len(left) > 0 {
		t.Errorf("staged files are left: %v", left)
	}
}

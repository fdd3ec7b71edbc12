package disk_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/testenv"
)

// openDisk opens a folder as a store until the test ends.
func openDisk(t *testing.T, dir string) *disk.Store {
	t.Helper()
	files := testenv.Of(disk.Open(dir)).Must(t)
	t.Cleanup(func() { testenv.NoError(t, files.Close()) })
	return files
}

// store commits content under path.
func store(t *testing.T, files *disk.Store, path, content string) {
	t.Helper()
	staged := testenv.Of(files.Stage(t.Context())).Must(t)
	defer staged.Abort()
	testenv.Of(io.WriteString(staged, content)).Must(t)
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
		testenv.Equal(t, "open "+path, fs.ErrNotExist, err)
		return
	}
	if err != nil {
		t.Errorf("open %q: %v", path, err)
		return
	}
	defer func() { _ = file.Close() }()
	testenv.Equal(t, fmt.Sprintf("content of %q", path), content, string(testenv.Of(io.ReadAll(file)).Must(t)))
}

// stagedFiles returns the names in the staging directory.
func stagedFiles(t *testing.T, dir string) []string {
	t.Helper()
	entries := testenv.Of(os.ReadDir(filepath.Join(dir, "tmp"))).Must(t)
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

// TestMovedFolder moves the open folder, or that of invoices, or retargets a link to it: what was
// stored behind a link is read, and nothing is stored any more until it is back.
func TestMovedFolder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		moved  string
		linked bool
	}{{"", true}, {"invoices", true}, {"invoices", false}} {
		parent := t.TempDir()
		dir, real, away := filepath.Join(parent, "files"), filepath.Join(parent, "disk"), filepath.Join(parent, "away")
		place, stays := filepath.Join(dir, test.moved), "a"
		testenv.NoError(t, os.MkdirAll(filepath.Dir(place), 0o700))
		if test.linked {
			testenv.NoError(t, errors.Join(os.Mkdir(real, 0o700), os.Symlink(real, place)))
		} else {
			real, stays = place, ""
		}
		files := openDisk(t, dir)
		store(t, files, "invoices/a.pdf", "a")
		for _, move := range []func() error{
			func() error { return os.Rename(real, away) },
			func() error { return os.Mkdir(real, 0o700) },
		} {
			testenv.NoError(t, move())
			staged := testenv.Of(files.Stage(t.Context())).Must(t)
			if err := staged.Commit(t.Context(), "invoices/b.pdf"); err == nil || !strings.Contains(err.Error(), place+" was moved") {
				t.Errorf("%+v: commit: %v", test, err)
			}
			staged.Abort()
			if err := files.Check(t.Context()); err == nil {
				t.Errorf("%+v: the check passes", test)
			}
			wantFile(t, files, "invoices/a.pdf", stays)
		}
		testenv.NoError(t, errors.Join(os.Remove(real), os.Rename(away, real), files.Check(t.Context())))
		store(t, files, "invoices/b.pdf", "b")
	}
}

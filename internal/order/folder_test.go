package order_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// folder is a file storage of a test's own whose operations can be made to fail.
type folder struct {
	*disk.Store
	dir string

	fail func(operation string) error
	// committing is called while a staged file is committed, before it is stored.
	committing func(ctx context.Context)
	// committed returns an error although the file is stored.
	committed func() error
}

func newFolder(t testing.TB) *folder {
	t.Helper()
	f := &folder{dir: t.TempDir()}
	var err error
	if f.Store, err = disk.Open(f.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func (f *folder) ask(operation string) error {
	if f.fail == nil {
		return nil
	}
	return f.fail(operation)
}

// paths returns the paths of all stored files, sorted.
func (f *folder) paths(t testing.TB) []string {
	t.Helper()
	var paths []string
	testenv.NoError(t, f.Each(t.Context(), func(path string) error { paths = append(paths, path); return nil }))
	slices.Sort(paths)
	return paths
}

// content returns the stored bytes of a path.
func (f *folder) content(t testing.TB, path string) string {
	t.Helper()
	content := testenv.Of(os.ReadFile(filepath.Join(f.dir, path))).Must(t)
	return string(content)
}

// write stores a file without an upload.
func (f *folder) write(t testing.TB, path, content string) {
	t.Helper()
	name := filepath.Join(f.dir, path)
	testenv.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	testenv.NoError(t, os.WriteFile(name, []byte(content), 0o600))
}

// stage returns a staged file without content.
func (f *folder) stage(t testing.TB) order.StagedFile {
	t.Helper()
	staged := testenv.Of(f.Stage(t.Context())).Must(t)
	t.Cleanup(staged.Abort)
	return staged
}

func (f *folder) Stage(ctx context.Context) (order.StagedFile, error) {
	if err := f.ask("Stage"); err != nil {
		return nil, err
	}
	staged, err := f.Store.Stage(ctx)
	return stagedFile{staged, f}, err
}

func (f *folder) Open(ctx context.Context, path string) (order.File, error) {
	if err := f.ask("Open"); err != nil {
		return nil, err
	}
	return f.Store.Open(ctx, path)
}

func (f *folder) Remove(ctx context.Context, path string) error {
	if err := f.ask("Remove"); err != nil {
		return err
	}
	return f.Store.Remove(ctx, path)
}

type stagedFile struct {
	order.StagedFile
	folder *folder
}

func (s stagedFile) Commit(ctx context.Context, path string) error {
	if s.folder.committing != nil {
		s.folder.committing(ctx)
	}
	if err := s.folder.ask("Commit"); err != nil {
		return err
	}
	if err := s.StagedFile.Commit(ctx, path); err != nil || s.folder.committed == nil {
		return err
	}
	return s.folder.committed()
}

// Package filestoretest is the test suite that every storage of invoice files
// passes.
package filestoretest

import (
	"context"
	"io"
	"io/fs"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// Files is a storage whose stored files can be listed.
type Files interface {
	order.Files
	Each(ctx context.Context, fn func(path string) error) error
}

// Run tests a storage. open returns a new, empty storage and closes it by
// t.Cleanup. Run calls it once for each test, concurrently.
func Run(t *testing.T, open func(t *testing.T) Files) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, files Files)
	}{
		{"RoundTrip", testRoundTrip},
		{"Names", testNames},
		{"HiddenBeforeCommit", testHiddenBeforeCommit},
		{"Abort", testAbort},
		{"CommitTwice", testCommitTwice},
		{"NoOverwrite", testNoOverwrite},
		{"Canceled", testCanceled},
		{"InvalidPath", testInvalidPath},
		{"ConcurrentNames", testConcurrentNames},
		{"ConcurrentSameName", testConcurrentSameName},
		{"OpenMissing", testOpenMissing},
		{"Seek", testSeek},
		{"Remove", testRemove},
		{"Each", testEach},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open(t))
		})
	}
}

// reference is the order of most test files.
const reference = "SF-2026-000123"

// stage returns a staged file with content. The end of the test aborts it.
func stage(t *testing.T, files Files, content []byte) order.StagedFile {
	t.Helper()
	file := testenv.Of(files.Stage(t.Context())).Must(t)
	t.Cleanup(file.Abort)
	// Two writes, as an upload arrives in several.
	for _, piece := range [][]byte{content[:len(content)/2], content[len(content)/2:]} {
		if n, err := file.Write(piece); n != len(piece) || err != nil {
			t.Fatalf("write %d bytes: %d, %v", len(piece), n, err)
		}
	}
	return file
}

// store stores content under path.
func store(t *testing.T, files Files, path string, content []byte) {
	t.Helper()
	if err := stage(t, files, content).Commit(t.Context(), path); err != nil {
		t.Fatalf("commit %q: %v", path, err)
	}
}

// wantStored fails the test unless the file at path has this content.
func wantStored(t *testing.T, files Files, path string, content []byte) {
	t.Helper()
	file, err := files.Open(t.Context(), path)
	if err != nil {
		t.Errorf("open %q: %v", path, err)
		return
	}
	defer func() { _ = file.Close() }()
	got, err := io.ReadAll(file)
	if err != nil {
		t.Errorf("read %q: %v", path, err)
	}
	testenv.Equal(t, "content of "+path, content, got)
}

// wantMissing fails the test if there is a file at path.
func wantMissing(t *testing.T, files Files, path string) {
	t.Helper()
	file, err := files.Open(context.WithoutCancel(t.Context()), path)
	if err == nil {
		_ = file.Close()
	}
	testenv.Equal(t, "open "+path, fs.ErrNotExist, err)
}

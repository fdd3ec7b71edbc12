// Package filestoretest is the suite that every place for invoice files must
// pass. A store's test calls Run with a way to open an empty store.
//
// It must not know where a store keeps its bytes: it sees order.Files only.
package filestoretest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"

	"merchantorders/internal/order"
)

// Run tests a store. open returns a new, empty store and cleans up after it by
// t.Cleanup; it is called once in each test, from several goroutines.
func Run(t *testing.T, open func(t *testing.T) order.Files) {
	t.Helper()
	tests := []struct {
		name string
		run  func(t *testing.T, files order.Files)
	}{
		{"RoundTrip", testRoundTrip},
		{"Names", testNames},
		{"Orders", testOrders},
		{"NothingBeforePublish", testNothingBeforePublish},
		{"Discard", testDiscard},
		{"PublishTwice", testPublishTwice},
		{"NoOverwrite", testNoOverwrite},
		{"Canceled", testCanceled},
		{"InvalidPath", testInvalidPath},
		{"ConcurrentNames", testConcurrentNames},
		{"ConcurrentSameName", testConcurrentSameName},
		{"OpenMissing", testOpenMissing},
		{"Seek", testSeek},
		{"Range", testRange},
		{"Remove", testRemove},
		{"Check", testCheck},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open(t))
		})
	}
}

// reference is that of the order whose files most tests write.
const reference = "SF-2026-000123"

// draft opens a draft, discarded at the end of the test, and writes content.
func draft(t *testing.T, files order.Files, content []byte) order.StagedFile {
	t.Helper()
	d, err := files.Stage(t.Context())
	if err != nil {
		t.Fatalf("open a draft: %v", err)
	}
	t.Cleanup(d.Abort)
	// In two pieces, as uploads arrive in many.
	for _, piece := range [][]byte{content[:len(content)/2], content[len(content)/2:]} {
		if n, err := d.Write(piece); n != len(piece) || err != nil {
			t.Fatalf("write %d bytes: %d, %v", len(piece), n, err)
		}
	}
	return d
}

// publish stores content under path.
func publish(t *testing.T, files order.Files, path string, content []byte) {
	t.Helper()
	if err := draft(t, files, content).Commit(t.Context(), path); err != nil {
		t.Fatalf("publish %q: %v", path, err)
	}
}

// wantStored fails the test unless path holds exactly content.
func wantStored(t *testing.T, files order.Files, path string, content []byte) {
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
	if !bytes.Equal(got, content) {
		t.Errorf("%q holds %d bytes that are not the %d bytes published", path, len(got), len(content))
	}
}

// wantMissing fails the test unless there is nothing under path.
func wantMissing(t *testing.T, files order.Files, path string) {
	t.Helper()
	file, err := files.Open(context.WithoutCancel(t.Context()), path)
	if err == nil {
		_ = file.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open %q: %v, want fs.ErrNotExist", path, err)
	}
}

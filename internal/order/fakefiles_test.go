package order_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"merchantorders/internal/order"
)

// fakeFiles is an order.Files in memory that can be made to fail.
type fakeFiles struct {
	mu    sync.Mutex
	bytes map[string][]byte

	fail func(operation string) error
	// committing is called while a staged file is committed, before it is stored.
	committing func(ctx context.Context)
	// committed returns an error although the file is stored.
	committed func() error
}

func newFakeFiles() *fakeFiles { return &fakeFiles{bytes: make(map[string][]byte)} }

func (f *fakeFiles) ask(operation string) error {
	if f.fail == nil {
		return nil
	}
	return f.fail(operation)
}

// paths returns the paths of all stored files, sorted.
func (f *fakeFiles) paths() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.bytes))
}

// content returns the stored bytes of a path.
func (f *fakeFiles) content(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.bytes[path])
}

func (f *fakeFiles) Stage(context.Context) (order.StagedFile, error) {
	if err := f.ask("Stage"); err != nil {
		return nil, err
	}
	return &fakeStagedFile{files: f}, nil
}

type fakeFile struct{ *bytes.Reader }

func (fakeFile) Close() error { return nil }

func (f *fakeFiles) Open(_ context.Context, path string) (order.File, error) {
	if err := f.ask("Open"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	content, ok := f.bytes[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return fakeFile{bytes.NewReader(content)}, nil
}

func (f *fakeFiles) Remove(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.ask("Remove"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.bytes, path)
	return nil
}

func (f *fakeFiles) Check(context.Context) error { return f.ask("Check") }

type fakeStagedFile struct {
	files   *fakeFiles
	content bytes.Buffer
}

func (d *fakeStagedFile) Write(p []byte) (int, error) { return d.content.Write(p) }

func (d *fakeStagedFile) Content() (*io.SectionReader, error) {
	return io.NewSectionReader(bytes.NewReader(d.content.Bytes()), 0, int64(d.content.Len())), nil
}

func (d *fakeStagedFile) Commit(ctx context.Context, path string) error {
	if d.files.committing != nil {
		d.files.committing(ctx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.files.ask("Commit"); err != nil {
		return err
	}
	d.files.mu.Lock()
	defer d.files.mu.Unlock()
	if _, there := d.files.bytes[path]; there {
		return fs.ErrExist
	}
	d.files.bytes[path] = bytes.Clone(d.content.Bytes())
	if d.files.committed != nil {
		return d.files.committed()
	}
	return nil
}

func (d *fakeStagedFile) Abort() {}

package filestoretest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func testRoundTrip(t *testing.T, files Files) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	large := make([]byte, order.MaxInvoiceSize)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(large)
	for name, content := range map[string][]byte{
		"every-byte.pdf": every,
		"one-byte.png":   {0},
		"crlf.jpg":       []byte("\r\n\n\r\x1a\x00"),
		"largest.pdf":    large,
	} {
		path := order.InvoicePath(reference, name)
		store(t, files, path, content)
		wantStored(t, files, path, content)
	}
}

func testNames(t *testing.T, files Files) {
	names := []string{
		"τιμολόγιο Μαΐου.pdf",
		strings.Repeat("τ", (order.MaxNameLength-len(".pdf"))/2) + ".pdf",
		`"double" 'single' .pdf`,
		"a?b#c%d&e=f+g;h.pdf",
		"a%2Fb%2e%2e.pdf",
		"a b.pdf", "a+b.pdf", "a%20b.pdf",
		"-rf.pdf", "~.pdf", "$HOME.pdf", "*.pdf", "`id`.pdf",
		".pdf", "..pdf", "...pdf", "a.pdf.", "a.pdf ",
		"发票🧾.PDF", "\u202efdp.png", "a:b|c<d>.pdf",
		// One letter in two Unicode forms: two names.
		"caf\u00e9.pdf", "cafe\u0301.pdf",
	}
	// Store all before reading the first, to detect two names for one file.
	for i, name := range names {
		store(t, files, order.InvoicePath(reference, name), []byte("content "+strconv.Itoa(i)))
	}
	for i, name := range names {
		wantStored(t, files, order.InvoicePath(reference, name), []byte("content "+strconv.Itoa(i)))
	}
}

func testHiddenBeforeCommit(t *testing.T, files Files) {
	path := order.InvoicePath(reference, "a.pdf")
	file := stage(t, files, []byte("content"))
	wantMissing(t, files, path)
	testenv.NoError(t, file.Commit(t.Context(), path))
	wantStored(t, files, path, []byte("content"))
}

func testAbort(t *testing.T, files Files) {
	path := order.InvoicePath(reference, "a.pdf")
	empty := testenv.Of(files.Stage(t.Context())).Must(t)
	empty.Abort()
	empty.Abort()

	file := stage(t, files, []byte("content"))
	file.Abort()
	if _, err := file.Write([]byte("more")); err == nil {
		t.Error("an aborted file was written")
	}
	if err := file.Commit(t.Context(), path); err == nil {
		t.Error("an aborted file was committed")
	}
	wantMissing(t, files, path)

	file = stage(t, files, []byte("content"))
	testenv.NoError(t, file.Commit(t.Context(), path))
	file.Abort()
	file.Abort()
	wantStored(t, files, path, []byte("content"))
}

func testCommitTwice(t *testing.T, files Files) {
	first, second := order.InvoicePath(reference, "a.pdf"), order.InvoicePath(reference, "b.pdf")
	file := stage(t, files, []byte("content"))
	testenv.NoError(t, file.Commit(t.Context(), first))
	for _, path := range []string{first, second} {
		if err := file.Commit(t.Context(), path); err == nil {
			t.Errorf("committed again as %q", path)
		}
	}
	wantStored(t, files, first, []byte("content"))
	wantMissing(t, files, second)
}

func testNoOverwrite(t *testing.T, files Files) {
	path := order.InvoicePath(reference, "a.pdf")
	store(t, files, path, []byte("first"))
	file, other := stage(t, files, []byte("second")), order.InvoicePath(reference, "b.pdf")
	testenv.Equal(t, "commit over a file", fs.ErrExist, file.Commit(t.Context(), path))
	wantStored(t, files, path, []byte("first"))
	testenv.NoError(t, file.Commit(t.Context(), other))
	wantStored(t, files, other, []byte("second"))
}

func testCanceled(t *testing.T, files Files) {
	path := order.InvoicePath(reference, "a.pdf")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testenv.Of(files.Stage(ctx)).WantError(t, "stage", context.Canceled)
	testenv.Equal(t, "commit", context.Canceled, stage(t, files, []byte("content")).Commit(ctx, path))
	wantMissing(t, files, path)
	testenv.Equal(t, "check", context.Canceled, files.Check(ctx))
}

func testInvalidPath(t *testing.T, files Files) {
	for _, path := range []string{
		"", ".", "..", "/", "a.pdf/", "/etc/a.pdf", "../a.pdf", "invoices/../../a.pdf", "invoices/" + reference + "/..",
		"invoices//a.pdf", "invoices/./a.pdf", "invoices/" + reference + "/\xff.pdf",
	} {
		if err := stage(t, files, []byte("content")).Commit(t.Context(), path); err == nil {
			t.Errorf("committed as %q", path)
		}
		wantMissing(t, files, path)
		if err := files.Remove(t.Context(), path); err == nil {
			t.Errorf("remove %q: no error", path)
		}
	}
}

// concurrently commits one staged file under each path at the same time and
// returns the errors. The content of file i is numbered(i).
func concurrently(t *testing.T, files Files, paths []string) []error {
	t.Helper()
	errs := make([]error, len(paths))
	start := make(chan struct{})
	var all sync.WaitGroup
	for i, path := range paths {
		file := stage(t, files, numbered(i))
		all.Go(func() {
			<-start
			errs[i] = file.Commit(t.Context(), path)
		})
	}
	close(start)
	all.Wait()
	return errs
}

// numbered returns content that differs for each i.
func numbered(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 10_000) }

func testConcurrentNames(t *testing.T, files Files) {
	var paths []string
	for i := range 16 {
		// Four orders, so that some commits create the folder and some find it.
		paths = append(paths, order.InvoicePath("SF-"+strconv.Itoa(i%4), strconv.Itoa(i)+".pdf"))
	}
	for i, err := range concurrently(t, files, paths) {
		if err != nil {
			t.Errorf("commit %q: %v", paths[i], err)
			continue
		}
		wantStored(t, files, paths[i], numbered(i))
	}
}

func testConcurrentSameName(t *testing.T, files Files) {
	var paths []string
	for range 16 {
		paths = append(paths, order.InvoicePath(reference, "a.pdf"))
	}
	winner := -1
	for i, err := range concurrently(t, files, paths) {
		switch {
		case err == nil && winner < 0:
			winner = i
		case err == nil:
			t.Errorf("both %d and %d were committed under one path", winner, i)
		case !errors.Is(err, fs.ErrExist):
			t.Errorf("commit %d: %v, want fs.ErrExist", i, err)
		}
	}
	if winner < 0 {
		t.Fatal("none was committed")
	}
	wantStored(t, files, paths[0], numbered(winner))
}

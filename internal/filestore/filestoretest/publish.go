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
)

func testRoundTrip(t *testing.T, files order.Files) {
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
		publish(t, files, path, content)
		wantStored(t, files, path, content)
	}
}

func testNames(t *testing.T, files order.Files) {
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
		// One letter in two spellings: two names.
		"caf\u00e9.pdf", "cafe\u0301.pdf",
	}
	// All are stored before the first is read, so that two names for one file
	// would show.
	for i, name := range names {
		publish(t, files, order.InvoicePath(reference, name), []byte("content "+strconv.Itoa(i)))
	}
	for i, name := range names {
		wantStored(t, files, order.InvoicePath(reference, name), []byte("content "+strconv.Itoa(i)))
	}
}

func testOrders(t *testing.T, files order.Files) {
	publish(t, files, order.InvoicePath("SF-1", "a.pdf"), []byte("of order 1"))
	publish(t, files, order.InvoicePath("SF-2", "a.pdf"), []byte("of order 2"))
	wantStored(t, files, order.InvoicePath("SF-1", "a.pdf"), []byte("of order 1"))
	wantStored(t, files, order.InvoicePath("SF-2", "a.pdf"), []byte("of order 2"))
	wantMissing(t, files, order.InvoicePath("SF-3", "a.pdf"))
}

func testNothingBeforePublish(t *testing.T, files order.Files) {
	path := order.InvoicePath(reference, "a.pdf")
	d := draft(t, files, []byte("content"))
	wantMissing(t, files, path)
	if err := d.Commit(t.Context(), path); err != nil {
		t.Fatalf("publish: %v", err)
	}
	wantStored(t, files, path, []byte("content"))
}

func testDiscard(t *testing.T, files order.Files) {
	path := order.InvoicePath(reference, "a.pdf")
	empty, err := files.Stage(t.Context())
	if err != nil {
		t.Fatalf("open a draft: %v", err)
	}
	empty.Abort()
	empty.Abort()

	d := draft(t, files, []byte("content"))
	d.Abort()
	if _, err := d.Write([]byte("more")); err == nil {
		t.Error("a discarded draft was written")
	}
	if err := d.Commit(t.Context(), path); err == nil {
		t.Error("a discarded draft was published")
	}
	wantMissing(t, files, path)

	d = draft(t, files, []byte("content"))
	if err := d.Commit(t.Context(), path); err != nil {
		t.Fatalf("publish: %v", err)
	}
	d.Abort()
	d.Abort()
	wantStored(t, files, path, []byte("content"))
}

func testPublishTwice(t *testing.T, files order.Files) {
	first, second := order.InvoicePath(reference, "a.pdf"), order.InvoicePath(reference, "b.pdf")
	d := draft(t, files, []byte("content"))
	if err := d.Commit(t.Context(), first); err != nil {
		t.Fatalf("publish: %v", err)
	}
	for _, path := range []string{first, second} {
		if err := d.Commit(t.Context(), path); err == nil {
			t.Errorf("published again as %q", path)
		}
	}
	wantStored(t, files, first, []byte("content"))
	wantMissing(t, files, second)
}

func testNoOverwrite(t *testing.T, files order.Files) {
	path := order.InvoicePath(reference, "a.pdf")
	publish(t, files, path, []byte("first"))
	err := draft(t, files, []byte("second")).Commit(t.Context(), path)
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("publish over a file: %v, want fs.ErrExist", err)
	}
	wantStored(t, files, path, []byte("first"))
}

func testCanceled(t *testing.T, files order.Files) {
	path := order.InvoicePath(reference, "a.pdf")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := files.Stage(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("draft: %v, %v, want context.Canceled", d, err)
	}
	if err := draft(t, files, []byte("content")).Commit(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("publish: %v, want context.Canceled", err)
	}
	wantMissing(t, files, path)
	if err := files.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("check: %v, want context.Canceled", err)
	}
}

func testInvalidPath(t *testing.T, files order.Files) {
	for _, path := range []string{
		"", ".", "..", "/", "a.pdf/", "/etc/a.pdf", "../a.pdf", "invoices/../../a.pdf", "invoices/" + reference + "/..",
		"invoices//a.pdf", "invoices/./a.pdf", "invoices/" + reference + "/\xff.pdf",
	} {
		if err := draft(t, files, []byte("content")).Commit(t.Context(), path); err == nil {
			t.Errorf("published as %q", path)
		}
		wantMissing(t, files, path)
		if err := files.Remove(t.Context(), path); err == nil {
			t.Errorf("remove %q: no error", path)
		}
	}
}

// concurrently publishes one draft under each path at the same moment and
// returns the errors. The content of each is its number.
func concurrently(t *testing.T, files order.Files, paths []string) []error {
	t.Helper()
	errs := make([]error, len(paths))
	start := make(chan struct{})
	var all sync.WaitGroup
	for i, path := range paths {
		d := draft(t, files, numbered(i))
		all.Go(func() {
			<-start
			errs[i] = d.Commit(t.Context(), path)
		})
	}
	close(start)
	all.Wait()
	return errs
}

// numbered returns content that no other number has.
func numbered(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 10_000) }

func testConcurrentNames(t *testing.T, files order.Files) {
	var paths []string
	for i := range 16 {
		// Four orders, so that some make the folder of an order and some find it.
		paths = append(paths, order.InvoicePath("SF-"+strconv.Itoa(i%4), strconv.Itoa(i)+".pdf"))
	}
	for i, err := range concurrently(t, files, paths) {
		if err != nil {
			t.Errorf("publish %q: %v", paths[i], err)
			continue
		}
		wantStored(t, files, paths[i], numbered(i))
	}
}

func testConcurrentSameName(t *testing.T, files order.Files) {
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
			t.Errorf("both %d and %d were published under one name", winner, i)
		case !errors.Is(err, fs.ErrExist):
			t.Errorf("publish %d: %v, want fs.ErrExist", i, err)
		}
	}
	if winner < 0 {
		t.Fatal("none was published")
	}
	wantStored(t, files, paths[0], numbered(winner))
}

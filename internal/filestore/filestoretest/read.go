package filestoretest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func testOpenMissing(t *testing.T, files Files) {
	wantMissing(t, files, order.InvoicePath(reference, "a.pdf"))
	store(t, files, order.InvoicePath(reference, "a.pdf"), []byte("content"))
	for _, path := range []string{
		order.InvoicePath(reference, "b.pdf"),
		order.InvoicePath(reference, "a.pdf/b.pdf"),
		order.InvoicePath("SF-other", "a.pdf"),
		order.InvoicePath(reference, strings.Repeat("a", 300)+".pdf"),
		// Folders are not files.
		"invoices/" + reference,
		"invoices",
	} {
		wantMissing(t, files, path)
	}
}

func testSeek(t *testing.T, files Files) {
	content := []byte("0123456789")
	path := order.InvoicePath(reference, "a.pdf")
	store(t, files, path, content)
	file := testenv.Of(files.Open(t.Context(), path)).Must(t)
	defer func() { _ = file.Close() }()
	for _, test := range []struct {
		offset int64
		whence int
		at     int64
		rest   string
	}{
		{0, io.SeekEnd, 10, ""},
		{3, io.SeekStart, 3, "3456789"},
		{-2, io.SeekEnd, 8, "89"},
		{-4, io.SeekCurrent, 6, "6789"},
		{0, io.SeekStart, 0, "0123456789"},
	} {
		testenv.Of(file.Seek(test.offset, test.whence)).Want(t, fmt.Sprintf("seek %d from %d", test.offset, test.whence), test.at)
		testenv.Equal(t, fmt.Sprintf("read after seek %d from %d", test.offset, test.whence), test.rest, string(testenv.Of(io.ReadAll(file)).Must(t)))
	}
}

func testRemove(t *testing.T, files Files) {
	path, other := order.InvoicePath(reference, "a.pdf"), order.InvoicePath(reference, "b.pdf")
	testenv.NoError(t, files.Remove(t.Context(), path))
	store(t, files, path, []byte("content"))
	store(t, files, other, []byte("other"))
	for range 2 {
		testenv.NoError(t, files.Remove(t.Context(), path))
		wantMissing(t, files, path)
	}
	wantStored(t, files, other, []byte("other"))
	store(t, files, path, []byte("new"))
	wantStored(t, files, path, []byte("new"))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testenv.Equal(t, "remove", context.Canceled, files.Remove(ctx, path))
	wantStored(t, files, path, []byte("new"))
}

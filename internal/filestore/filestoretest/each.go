package filestoretest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func testEach(t *testing.T, files Files) {
	var want []string
	for i := range 25 {
		path := order.InvoicePath(fmt.Sprintf("SF-%d", i%7), fmt.Sprintf("τιμολόγιο %d?.pdf", i))
		want = append(want, path)
		store(t, files, path, nil)
	}
	stage(t, files, nil) // not a stored file
	var got []string
	testenv.NoError(t, files.Each(t.Context(), func(path string) error {
		got = append(got, path)
		return nil
	}))
	slices.Sort(want)
	slices.Sort(got)
	testenv.Equal(t, "files", want, got)

	enough, calls := errors.New("enough"), 0
	if err := files.Each(t.Context(), func(string) error {
		calls++
		return enough
	}); !errors.Is(err, enough) || calls != 1 {
		t.Errorf("stopped: %v after %d files, want %v after 1", err, calls, enough)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testenv.Equal(t, "canceled", context.Canceled, files.Each(ctx, func(string) error { return nil }))
	// The folders may remain, as after a purge.
	for _, path := range want {
		testenv.NoError(t, files.Remove(t.Context(), path))
	}
	testenv.NoError(t, files.Each(t.Context(), func(path string) error { return fmt.Errorf("%s: %w", path, fs.ErrExist) }))
}

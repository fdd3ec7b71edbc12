package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/order"
)

// lister is a store that can be looked through.
type lister interface {
	order.Files
	Each(ctx context.Context, fn func(path string) error) error
}

func TestEach(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) lister{
		"disk": func(t *testing.T) lister {
			disk, err := filestore.OpenDisk(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = disk.Close() })
			return disk
		},
		"S3": func(t *testing.T) lister {
			bucket, endpoint := s3test.Bucket(t)
			s3, err := filestore.OpenS3(t.Context(), filestore.Bucket{Name: bucket, Region: s3test.Region, Endpoint: endpoint}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s3.Close() })
			return s3
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testEach(t, open(t))
		})
	}
}

func testEach(t *testing.T, files lister) {
	var want []string
	for i := range 25 {
		path := order.InvoicePath(fmt.Sprintf("SF-%d", i%7), fmt.Sprintf("τιμολόγιο %d?.pdf", i))
		want = append(want, path)
		draft, err := files.Stage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := draft.Commit(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	// On its way, and no stored file.
	left, err := files.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer left.Abort()
	var got []string
	if err := files.Each(t.Context(), func(path string) error {
		got = append(got, path)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}

	enough, calls := errors.New("enough"), 0
	if err := files.Each(t.Context(), func(string) error {
		calls++
		return enough
	}); !errors.Is(err, enough) || calls != 1 {
		t.Errorf("stopped: %v after %d files, want %v after 1", err, calls, enough)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := files.Each(ctx, func(string) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	// As an empty folder that a purge leaves behind.
	for _, path := range want {
		if err := files.Remove(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Each(t.Context(), func(path string) error { return fmt.Errorf("%s: %w", path, fs.ErrExist) }); err != nil {
		t.Errorf("after all were removed: %v", err)
	}
}

package filestore_test

import (
	"testing"

	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/filestoretest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/order"
)

func TestS3(t *testing.T) {
	filestoretest.Run(t, func(t *testing.T) order.Files {
		name, endpoint := s3test.Bucket(t)
		files, err := filestore.OpenS3(t.Context(), filestore.Bucket{
			Name: name, Region: s3test.Region, Endpoint: endpoint,
		}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := files.Close(); err != nil {
				t.Error(err)
			}
		})
		return files
	})
}

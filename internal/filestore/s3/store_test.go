package s3_test

import (
	"os"
	"testing"

	"merchantorders/internal/filestore/filestoretest"
	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(s3test.Main(m.Run)) }

func TestStore(t *testing.T) {
	filestoretest.Run(t, func(t *testing.T) filestoretest.Files {
		name, endpoint := s3test.Bucket(t)
		files, err := s3.Open(t.Context(), s3.Bucket{Name: name, Region: s3test.Region, Endpoint: endpoint})
		if err == nil {
			err = files.OpenStaging(t.TempDir())
		}
		testenv.NoError(t, err)
		t.Cleanup(func() { testenv.NoError(t, files.Close()) })
		return files
	})
}

package backup_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/testenv"
)

// inBucket returns the place of a backup in a bucket, whose temporary files are in a folder.
func inBucket(t *testing.T, endpoint, folder, key string) backup.Place {
	t.Helper()
	bucket := s3.Bucket{Name: "backups", Region: s3test.Region, Endpoint: endpoint, Credentials: s3.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}}
	object := testenv.Of(s3.OpenObject(bucket, key)).Must(t)
	return backup.Place{Path: filepath.Join(folder, filepath.Base(key)), Object: object}
}

// TestBackupInBucket makes, checks and restores backups in a bucket. They replace none, and
// leave nothing on the disk.
func TestBackupInBucket(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 250)
	want := in.Dump(t)
	memory := new(s3test.Memory)
	server := httptest.NewServer(memory)
	t.Cleanup(server.Close)
	folder := t.TempDir()
	for _, key := range []string{"a.tar", "nightly/a.tar.gz"} {
		place := inBucket(t, server.URL, folder, key)
		if _, err := backup.Check(t.Context(), place, new(maintenance.Reporter)); err == nil || !strings.Contains(err.Error(), "the bucket has no object "+filepath.Base(key)) {
			t.Errorf("check of no backup: %v", err)
		}
		made, err := backup.Create(t.Context(), in.Installation, place, maintenancetest.Now, "", new(maintenance.Reporter))
		if err != nil || made.Findings != 0 || made.Files == 0 {
			t.Fatalf("backup: %+v, %v", made, err)
		}
		testenv.Of(backup.Create(t.Context(), in.Installation, place, maintenancetest.Now, "", new(maintenance.Reporter))).WantError(t, "a second backup", backup.ErrExists)
		if result, err := backup.Check(t.Context(), place, new(maintenance.Reporter)); err != nil || result.Findings != 0 || result.Files != made.Files {
			t.Errorf("check: %+v, %v", result, err)
		}
		to := dataFolderIn(filepath.Join(t.TempDir(), "restored"))
		testenv.Of(backup.Restore(t.Context(), place, to, backup.RestoreOptions{}, new(maintenance.Reporter))).Must(t)
		maintenancetest.Open(t, to.Path).WantDump(t, want)
	}
	if left := names(t, folder); left != nil || memory.Objects() != 2 || memory.Uploads() != 0 {
		t.Errorf("left: files %q, %d objects, %d uploads", left, memory.Objects(), memory.Uploads())
	}
}

// TestBackupInBucketFails backs up while the database cannot be read to its end, and to a bucket
// that does not keep the backup: nothing is left.
func TestBackupInBucketFails(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 5)
	for name, keep := range map[string]func([]byte) []byte{"stopped": nil, "cut": func(content []byte) []byte { return content[:len(content)/2] }} {
		t.Run(name, func(t *testing.T) {
			memory := &s3test.Memory{Keep: keep}
			server := httptest.NewServer(memory)
			t.Cleanup(server.Close)
			source, folder := in.Installation, t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if keep == nil {
				source.Files = hooked{in.Files, new(sync.Once), cancel}
			}
			_, err := backup.Create(ctx, source, inBucket(t, server.URL, folder, "a.tar"), maintenancetest.Now, "", new(maintenance.Reporter))
			if left := names(t, folder); err == nil || left != nil || memory.Objects() != 0 || memory.Uploads() != 0 {
				t.Errorf("%v; left: files %q, %d objects, %d uploads", err, left, memory.Objects(), memory.Uploads())
			}
		})
	}
}

// TestRestoreFromBrokenBucket restores a backup whose bucket breaks off: that is no damage.
func TestRestoreFromBrokenBucket(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 5)
	memory := new(s3test.Memory)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w = &brokenOff{ResponseWriter: w, left: 100_000}
		}
		memory.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	place := inBucket(t, server.URL, t.TempDir(), "a.tar")
	testenv.Of(backup.Create(t.Context(), in.Installation, place, maintenancetest.Now, "", new(maintenance.Reporter))).Must(t)
	to := dataFolderIn(filepath.Join(t.TempDir(), "restored"))
	_, err := backup.Restore(t.Context(), place, to, backup.RestoreOptions{Partial: true}, new(maintenance.Reporter))
	if err == nil || errors.Is(err, backup.ErrDamaged) || !strings.Contains(err.Error(), "cannot be read to its end") {
		t.Errorf("restore: %v", err)
	}
	testenv.Equal(t, "left", nil, names(t, to.Path))
}

// brokenOff breaks a response off.
type brokenOff struct {
	http.ResponseWriter
	left int
}

func (w *brokenOff) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p[:min(len(p), w.left)])
	if w.left -= n; n < len(p) {
		panic(http.ErrAbortHandler)
	}
	return n, err
}

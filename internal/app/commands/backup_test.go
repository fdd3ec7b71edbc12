package commands_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/testenv"
)

// TestBackupAndRestore backs up beside a running server and restores into another
// data folder.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	s := filled(t)
	for _, form := range []string{"b.tar", "b.tar.gz", "b"} {
		path := filepath.Join(t.TempDir(), form)
		got := s.Run(t, "", "backup", path)
		if got.Code != 0 || !strings.HasPrefix(got.Stdout, "backed up to "+path+": database ") ||
			!strings.HasSuffix(got.Stdout, "bytes, invoice files 2 with 11 bytes\n") || got.Stderr != "" {
			t.Errorf("backup: %+v", got)
		}
		s.Run(t, "", "backup", path).WantErr(t, 1, "merchant-orders: "+path+" already exists\n")
		to := folder(t)
		to.Run(t, "", "restore", path+"x").WantText(t, 1, "no such file")
		if _, err := os.Stat(to.Data); err == nil {
			t.Error("a restore of no backup makes a data folder")
		}
		got = to.Run(t, "", "restore", path)
		want := "restored and checked: merchants 1, orders 3, invoices 2, events 5, files 2, orphans 0: no findings\n"
		if got.Code != 0 || got.Stdout != want || got.Stderr != "" {
			t.Errorf("restore: got %+v, want %q", got, want)
		}
		to.Run(t, "", "restore", path).WantText(t, 1, " is not empty: it contains ")
		restored := apptest.StartOn(t, to.Data)
		// Tokens are restored too.
		testenv.Send(t, s.Token, "GET", restored.BaseURL+"/v2/orders/T-1", "").WantText(t, 200, "/invoices/T-1/a.pdf", "/invoices/T-1/b.pdf")
		testenv.Send(t, s.Token, "GET", restored.BaseURL+"/storage/local/merchant-orders/invoices/T-1/b.pdf", "").Want(t, "the file", 200, "second")
	}
}

// TestBackupInBucket backs up a running service into a bucket, checks the backup, and restores it.
func TestBackupInBucket(t *testing.T) {
	t.Parallel()
	bucket, endpoint := s3test.Bucket(t)
	s := filled(t)
	place := "s3://" + bucket + "/nightly/b.tar.gz?region=" + s3test.Region + "&endpoint=" + endpoint
	s.Run(t, "", "backup", place).WantText(t, 0, "backed up to "+place+": database ", "bytes, invoice files 2 with 11 bytes\n")
	s.Run(t, "", "backup", place).WantErr(t, 1, "merchant-orders: the object b.tar.gz already exists\n")
	s.Run(t, "", "check", "--backup", place).WantText(t, 0, "checked: ", "files 2, orphans 0: no findings\n")
	to := folder(t)
	other := strings.Replace(place, "b.tar", "c.tar", 1)
	to.Run(t, "", "restore", other).WantErr(t, 1, "merchant-orders: the bucket has no object c.tar.gz\n")
	to.Run(t, "", "restore", place).WantText(t, 0, "restored and checked: ", "files 2, orphans 0: no findings\n")
	nobody := strings.Replace(place, bucket, "nobody", 1)
	for _, command := range []string{"restore", "backup"} {
		s.Run(t, "", command, nobody).WantText(t, 1, "bucket nobody on ", "there is no such bucket (status 404)")
	}
}

// TestPlacesOfBackups refuses places that can be none.
func TestPlacesOfBackups(t *testing.T) {
	t.Parallel()
	f := folder(t)
	for place, want := range map[string]string{
		"":                                                  "the path of the backup is empty",
		"s3://backups?region=eu-central-1":                  "s3://BUCKET/PATH?region=REGION",
		"s3://backups/a?region=eu-central-1":                "its PATH ends in .tar, .tar.gz or .tgz",
		"s3://backups/../a.tar?endpoint=h":                  "its PATH ends in .tar, .tar.gz or .tgz",
		"s3://backups/a.tar":                                "must name the region of the bucket",
		"s3://backups/a.tar?endpoint=h":                     "must contain an endpoint",
		"s3://b/a.tar?region=eu-central-1":                  "must contain the name of a bucket",
		"s3://key:secret@backups/a.tar?region=eu-central-1": "must be",
	} {
		for _, command := range [][]string{{"backup", place}, {"restore", place}, {"check", "--backup=" + place}} {
			if place == "" && command[0] == "check" {
				continue // of the installation
			}
			f.Run(t, "", command...).WantText(t, 2, want)
		}
	}
}

// TestFilesAmongInvoiceFiles has commands write into the folder of invoice files: they refuse, and
// write nothing.
func TestFilesAmongInvoiceFiles(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	files, linked := filepath.Join(f.Data, "files"), filepath.Join(t.TempDir(), "disk")
	testenv.NoError(t, errors.Join(os.MkdirAll(files, 0o700), os.MkdirAll(linked, 0o700), os.RemoveAll(filepath.Join(files, "invoices")), os.Symlink(linked, filepath.Join(files, "invoices")), os.Symlink(files, filepath.Join(linked, "..", "files"))))
	f.Run(t, "", "copy", "--to-storage", "file://"+files).WantText(t, 2, files+" is in the folder of invoice files")
	for _, path := range []string{filepath.Join(files, "b"), filepath.Join(files, "new", "..", "b.tar"), filepath.Join(linked, "b.tar.gz"), filepath.Join(linked, "..", "files", "x", "b")} {
		for _, args := range [][]string{{"backup", path}, {"import", "-", "--rejected", path}, {"copy", "--to-data", path}, {"copy", "--to-storage", "file://" + path}, {"copy", "--to-database", "sqlite://" + path}} {
			f.Run(t, "", args...).WantText(t, 2, " is in the folder of invoice files, "+files+", where check takes it for an orphan: name a place outside of it\n")
		}
	}
	f.Run(t, "", "backup", filepath.Join(f.Data, "files.tar")).WantText(t, 0, "backed up")
	mustCheck(t, f)
}

// TestFollowersOfARestoredFeed follows both feeds over a restore: what was accepted after the
// backup is gone, and who has seen it is told to begin again.
func TestFollowersOfARestoredFeed(t *testing.T) {
	t.Parallel()
	s := filled(t)
	operator := s.Folder.Token(t, "--operator")
	path := filepath.Join(t.TempDir(), "b.tar")
	s.Run(t, "", "backup", path).WantText(t, 0, "backed up")
	testenv.Send(t, s.Token, "PATCH", s.BaseURL+"/v2/orders/T-2/accept", "").WantStatus(t, 200)
	var ours struct {
		Next    int64
		History string
	}
	var all struct{ Next, History string }
	testenv.Send(t, s.Token, "GET", s.BaseURL+"/v2/events?include=order", "").Decode(t, &ours)
	testenv.Send(t, operator, "GET", s.Address("/operator/events?include=order"), "").Decode(t, &all)
	to := folder(t)
	to.Run(t, "", "restore", path).WantText(t, 0, "no findings")
	restored := apptest.StartOn(t, to.Data)
	operator = to.Token(t, "--operator")
	var again struct{ History string }
	if testenv.Send(t, s.Token, "GET", restored.BaseURL+"/v2/events", "").Decode(t, &again); again.History == ours.History {
		t.Errorf("the history of the merchant's feed is %s as before", again.History)
	}
	if testenv.Send(t, operator, "GET", restored.Address("/operator/events"), "").Decode(t, &again); again.History == all.History {
		t.Errorf("the history of the operators' feed is %s as before", again.History)
	}
	testenv.Send(t, operator, "GET", restored.Address("/operator/events?cursor="+all.Next), "").WantText(t, 409, "history_changed")
}

func TestBackupWithFindings(t *testing.T) {
	t.Parallel()
	s := filled(t)
	testenv.NoError(t, os.WriteFile(invoiceFile(s.Folder, "T-1", "a.pdf"), []byte("other"), 0o600))
	path := filepath.Join(t.TempDir(), "b.tar")
	const finding = "merchant 355, order T-1, invoice 1: invoices/T-1/a.pdf does not have the content that its entry says (SHA-256); put the file back from a backup, then check again\n"
	got := s.Run(t, "", "backup", path)
	want := finding + "merchant-orders: the backup is complete, but the installation has 1 missing or damaged file\n"
	if got.Code != 1 || got.Stderr != want {
		t.Errorf("backup: got %+v, want %q", got, want)
	}
	to := folder(t)
	got = to.Run(t, "", "restore", path)
	want = finding + "merchant-orders: the backup is damaged, nothing was restored: 1 finding (--with-faults restores it anyway)\n"
	if got.Code != 1 || got.Stderr != want || got.Stdout != "" {
		t.Errorf("restore: got %+v, want %q", got, want)
	}
	got = to.Run(t, "", "restore", path, "--with-faults")
	if got.Code != 1 || got.Stderr != finding+"merchant-orders: 1 finding\n" || !strings.HasSuffix(got.Stdout, ": 1 finding\n") {
		t.Errorf("restore with findings: %+v", got)
	}
	testenv.Send(t, s.Token, "GET", apptest.StartOn(t, to.Data).BaseURL+"/v2/orders/T-1", "").WantStatus(t, 200)
	got = s.Run(t, "", "check", "--backup", path)
	want = finding + "checked: merchants 1, orders 3, invoices 2, events 5, files 1, orphans 0: 1 finding\n"
	got.WantOut(t, 1, want)
	// Two blocks at its end, and the manifest.
	info := testenv.Of(os.Stat(path)).Must(t)
	testenv.NoError(t, os.Truncate(path, info.Size()-3*512))
	to = folder(t)
	got = to.Run(t, "", "restore", path)
	want = "; nothing was restored (--partial restores what can be read)\n"
	if got.Code != 1 || !strings.HasPrefix(got.Stderr, "merchant-orders: the backup is damaged: ") || !strings.HasSuffix(got.Stderr, want) {
		t.Errorf("restore of a backup that was cut off: got %+v, want %q", got, want)
	}
	got = to.Run(t, "", "restore", path, "--partial")
	if got.Code != 1 || !strings.Contains(got.Stderr, "; 2 invoice files could be read; use another backup if there is one\n"+finding) ||
		!strings.HasSuffix(got.Stdout, ", files 1, orphans 0: 2 findings\n") {
		t.Errorf("partial restore: got %+v", got)
	}
}

func TestRestoreBesideServer(t *testing.T) {
	t.Parallel()
	s := filled(t)
	path := filepath.Join(t.TempDir(), "b")
	s.Run(t, "", "backup", path)
	s.Run(t, "", "restore", path).WantErr(t, 1, "merchant-orders: a server, or another restore, is running on the data folder\n")
	testenv.Send(t, s.Token, "GET", s.BaseURL+"/v2/orders/T-1", "").WantStatus(t, 200)
}

func TestBackupNeedsDataFolder(t *testing.T) {
	t.Parallel()
	f := folder(t)
	got := f.Run(t, "", "backup", "x.tar", "--database", "postgres://u@localhost/d", "--storage", "s3://bucket?region=eu-central-1")
	if want := "merchant-orders: --database (MERCHANT_ORDERS_DATABASE): is not supported by this command; docs/postgresql.md describes backups of PostgreSQL and S3\n" +
		"merchant-orders: --storage (MERCHANT_ORDERS_STORAGE): is not supported by this command; docs/postgresql.md describes backups of PostgreSQL and S3\n"; got.Code != 2 || got.Stderr != want {
		t.Errorf("backup: got %+v, want %q", got, want)
	}
	f.Run(t, "", "backup", "-").WantText(t, 2, "is not standard output")
	f.Run(t, "", "restore", "x.tar", "--storage", "s3://bucket?region=eu-central-1").WantText(t, 2, "docs/postgresql.md")
	if _, err := os.Stat(f.Data); err == nil {
		t.Error("the data folder was created")
	}
}

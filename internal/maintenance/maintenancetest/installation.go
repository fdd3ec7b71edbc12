package maintenancetest

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/token"
)

// Kinds are all combinations of database and storage.
var Kinds = []Kind{{}, {Postgres: true, S3: true}, {Postgres: true}, {S3: true}}

// Kind is a combination of database and storage. The zero Kind is embedded.
type Kind struct{ Postgres, S3 bool }

// String names the kind.
func (k Kind) String() string {
	name := "sqlite"
	if k.Postgres {
		name = "postgres"
	}
	if k.S3 {
		return name + "-s3"
	}
	return name + "-disk"
}

// Main runs the tests of a package and ends the servers that they started.
func Main(m *testing.M) {
	os.Exit(s3test.Main(func() int { return pgtest.Run(m.Run, distribute) }))
}

// distribute makes and spreads the tables of a database.
func distribute(ctx context.Context, url string) error {
	db, err := store.OpenPostgres(ctx, url, store.Options{})
	if err != nil {
		return err
	}
	_, err = db.Distribute(ctx)
	return errors.Join(err, db.Close())
}

// Installation is one with the service on it.
type Installation struct {
	maintenance.Installation
	Kind   Kind
	Folder string // data folder; of S3 the files on their way alone
	Orders *order.Service
	Tokens *token.Registry
	SQL    *sql.DB // to look at the tables, and to damage them
}

// Now is the clock of all installations.
var Now = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// New makes an empty installation.
func New(t testing.TB, kind Kind) *Installation {
	t.Helper()
	in := &Installation{Kind: kind, Folder: filepath.Join(t.TempDir(), "data")}
	in.open(t)
	return in
}

// On opens an embedded installation that is there.
func On(t testing.TB, folder string) *Installation {
	t.Helper()
	in := &Installation{Folder: folder}
	in.open(t)
	return in
}

func (in *Installation) open(t testing.TB) {
	t.Helper()
	in.openFiles(t)
	var err error
	if in.Kind.Postgres {
		url := pgtest.Database(t)
		in.DB, err = store.OpenPostgres(t.Context(), url, store.Options{})
		if err == nil {
			in.SQL, err = sql.Open("pgx", url)
		}
	} else {
		path := filepath.Join(in.Folder, "orders.db")
		in.DB, err = store.OpenSQLite(t.Context(), path, store.Options{})
		if err == nil {
			in.SQL, err = sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(in.SQL.Close(), in.DB.Close()); err != nil {
			t.Error(err)
		}
	})
	now := func() time.Time { return Now }
	in.Orders = order.NewService(in.DB, in.Files, now, slog.New(slog.DiscardHandler))
	in.Tokens = token.NewRegistry(in.DB, now)
}

func (in *Installation) openFiles(t testing.TB) {
	t.Helper()
	var closer interface{ Close() error }
	folder := filepath.Join(in.Folder, "files")
	if in.Kind.S3 {
		bucket, endpoint := s3test.Bucket(t)
		s3, err := s3.Open(t.Context(), s3.Bucket{Name: bucket, Region: s3test.Region, Endpoint: endpoint}, folder)
		if err != nil {
			t.Fatal(err)
		}
		in.Files, closer = s3, s3
	} else {
		disk, err := disk.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		in.Files, closer = disk, disk
	}
	t.Cleanup(func() {
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	})
}

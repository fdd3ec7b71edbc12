package maintenancetest

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/citus"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// Kinds are all combinations of database and storage.
var Kinds = []Kind{{}, {Postgres: true, S3: true}, {Postgres: true}, {S3: true}}

// Kind is a combination of database and storage. The zero value is embedded.
type Kind struct{ Postgres, S3 bool }

// String returns the name of the kind, such as "sqlite-disk".
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

// Main runs the tests of a package and stops the servers that they started.
func Main(m *testing.M) {
	os.Exit(s3test.Main(func() int { return pgtest.Run(m.Run, SetUp) }))
}

// SetUp creates the tables of a database. On a cluster it distributes them.
func SetUp(ctx context.Context, url string, cluster bool) error {
	db, err := store.OpenPostgres(ctx, url, store.Options{})
	if err != nil {
		return err
	}
	if cluster {
		_, err = citus.Distribute(ctx, db.SQL())
	}
	return errors.Join(err, db.Close())
}

// Installation is an installation with the service on it.
type Installation struct {
	maintenance.Installation
	Kind   Kind
	Folder string // data folder; with S3 it holds staged files only
	Store  *store.DB
	order.Services
	Tokens *token.Registry
	SQL    *sql.DB // reads and damages tables
}

// Now is the time in all installations.
var Now = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// New creates an empty installation.
func New(t testing.TB, kind Kind) *Installation {
	t.Helper()
	in := &Installation{Kind: kind, Folder: filepath.Join(t.TempDir(), "data")}
	in.open(t)
	return in
}

// Open opens the embedded installation in a data folder.
func Open(t testing.TB, folder string) *Installation {
	t.Helper()
	in := &Installation{Folder: folder}
	in.open(t)
	return in
}

func (in *Installation) open(t testing.TB) {
	t.Helper()
	in.openFiles(t)
	open, database := store.OpenSQLite, filepath.Join(in.Folder, "orders.db")
	if in.Kind.Postgres {
		open, database = store.OpenPostgres, pgtest.Database(t)
	}
	in.Store = testenv.Of(open(t.Context(), database, store.Options{})).Must(t)
	t.Cleanup(func() { testenv.NoError(t, in.Store.Close()) })
	in.DB, in.SQL = in.Store.SQL(), OpenSQL(t, database)
	now := func() time.Time { return Now }
	in.Services = order.NewServices(in.Store, in.Files, now, slog.New(slog.DiscardHandler))
	in.Tokens = token.NewRegistry(in.Store, now)
}

// OpenSQL opens a database by the URL of a PostgreSQL database or the path of an
// SQLite file.
func OpenSQL(t testing.TB, database string) *sql.DB {
	t.Helper()
	driver, source := "sqlite", "file:"+database+"?_pragma=busy_timeout(60000)"
	if strings.Contains(database, "://") {
		driver, source = "pgx", database
	}
	db := testenv.Of(sql.Open(driver, source)).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (in *Installation) openFiles(t testing.TB) {
	t.Helper()
	folder := filepath.Join(in.Folder, "files")
	var files interface {
		maintenance.Files
		Close() error
	}
	var err error
	if in.Kind.S3 {
		bucket, endpoint := s3test.Bucket(t)
		var store *s3.Store
		store, err = s3.Open(t.Context(), s3.Bucket{Name: bucket, Region: s3test.Region, Endpoint: endpoint})
		if err == nil {
			files, err = store, store.OpenStaging(folder)
		}
	} else {
		files, err = disk.Open(folder)
	}
	testenv.NoError(t, err)
	in.Files = files
	t.Cleanup(func() { testenv.NoError(t, files.Close()) })
}

package store

import (
	"context"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/store/sqldb/postgres"
	"merchantorders/internal/store/sqldb/sqlite"
)

// Engine is a kind of database. An address is the path of a file or a URL.
type Engine struct {
	Name string // as OpenTelemetry calls it
	Open func(ctx context.Context, address string, options Options) (*DB, error)
	// Schema returns the migration history of a database.
	Schema func(ctx context.Context, address string) (migrations.Status, error)
	// Examine returns what a database tells of itself. It changes nothing.
	Examine func(ctx context.Context, address string) (sqldb.Examination, error)
	// LockFile returns the path of the file by whose locks the servers of one database
	// detect each other, whatever the spelling of the address; empty: there is none.
	LockFile func(address string) (string, error)
}

// SuspendBetweenTransactions is that of SQLite.
func SuspendBetweenTransactions() { sqlite.SuspendBetweenTransactions() }

// The engines.
var (
	SQLite = Engine{
		Name: "sqlite", Open: OpenSQLite, Schema: sqlite.SchemaStatus, Examine: sqlite.Examine, LockFile: sqlite.LockFile,
	}
	Postgres = Engine{
		Name: "postgresql", Open: OpenPostgres, Schema: postgres.SchemaStatus, Examine: postgres.Examine,
		LockFile: func(string) (string, error) { return "", nil },
	}
)

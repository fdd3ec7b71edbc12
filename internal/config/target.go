package config

import (
	"errors"
	"strings"
)

// Target has the target of a copy. What it does not name is not copied.
type Target struct {
	// Data is the target folder of the database and the invoice files, unless
	// Database or Storage is set.
	Data string `name:"to-data" placeholder:"DIR" help:"Data folder to copy the database and the invoice files to, unless --to-database or --to-storage names another target. It is created if it does not exist."`

	// Database is the target database; see Config. Empty: the folder, or, without
	// one, the database is not copied.
	Database string `name:"to-database" placeholder:"URL" help:"Database to copy to: postgres://user:password@host/database, or sqlite://PATH."`

	// Storage is the target storage; see Config. Empty: the folder, or, without
	// one, the files are not copied.
	Storage string `name:"to-storage" placeholder:"URL" help:"Storage to copy invoice files to: s3://bucket?region=REGION&endpoint=URL, with the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."`
}

// Config returns the settings of a service on the target.
func (t Target) Config() Config {
	return Config{Data: t.Data, Database: t.Database, Storage: t.Storage}
}

// MovesDatabase reports whether orders are copied.
func (t Target) MovesDatabase() bool { return t.Data != "" || t.Database != "" }

// MovesFiles reports whether invoice files are copied.
func (t Target) MovesFiles() bool { return t.Data != "" || t.Storage != "" }

// Validate returns the *Error of every invalid setting, joined, or nil.
func (t Target) Validate() error {
	if !t.MovesDatabase() && !t.MovesFiles() {
		return Invalid("to-database", "or --to-storage or --to-data is required")
	}
	var folder string
	if t.Data != "" {
		folder = checkFolder(t.Data)
	}
	return errors.Join(
		Invalid("to-data", folder),
		Invalid("to-database", checkDatabase(t.Config())),
		Invalid("to-storage", checkStorage(t.Storage)),
	)
}

// Embedded returns nil if the database is SQLite and the storage is the data
// folder, else the *Error of each setting that is not.
func (c Config) Embedded() error {
	const elsewhere = "is not supported by this command; docs/postgresql.md describes backups of PostgreSQL and S3"
	var database, storage string
	if _, ok := c.PostgresURL(); ok {
		database = elsewhere
	}
	if strings.HasPrefix(c.Storage, s3Scheme) {
		storage = elsewhere
	}
	return errors.Join(Invalid("database", database), Invalid("storage", storage))
}

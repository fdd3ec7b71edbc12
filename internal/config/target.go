package config

import (
	"errors"
	"strings"
)

// Target holds where a copy goes. What is not named stays where it is.
type Target struct {
	// Data is a data folder for the database and the invoice files, but for what
	// the others name.
	Data string `name:"to-data" placeholder:"DIR" help:"Data folder to copy to: the database and the files, but for what the other two name. Made when it is missing."`

	// Database is where orders are copied to; see Config. Empty: into the folder,
	// or, without one, they stay.
	Database string `name:"to-database" placeholder:"URL" help:"Database to copy to: postgres://user:password@host/database, or sqlite://PATH."`

	// Storage is where invoice files are copied to; see Config. Empty: into the
	// folder, or, without one, they stay.
	Storage string `name:"to-storage" placeholder:"URL" help:"Storage to copy invoice files to: s3://bucket?region=REGION&endpoint=URL, with the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."`
}

// Config returns the settings of a service that works on the target alone.
func (t Target) Config() Config {
	return Config{Data: t.Data, Database: t.Database, Storage: t.Storage}
}

// MovesDatabase reports whether orders are copied.
func (t Target) MovesDatabase() bool { return t.Data != "" || t.Database != "" }

// MovesFiles reports whether invoice files are copied.
func (t Target) MovesFiles() bool { return t.Data != "" || t.Storage != "" }

// Validate returns all faults of the settings, each as a Error, or nil.
func (t Target) Validate() error {
	if !t.MovesDatabase() && !t.MovesFiles() {
		return Invalid("to-database", "is required, or --to-storage, or --to-data")
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

// Embedded returns nil where database and files are on this machine, in files of
// this service's own, and otherwise a Error for each that is not.
func (c Config) Embedded() error {
	const elsewhere = "is not for this command: docs/operations.md says how to back up PostgreSQL and S3"
	var database, storage string
	if _, ok := c.PostgresURL(); ok {
		database = elsewhere
	}
	if strings.HasPrefix(c.Storage, s3Scheme) {
		storage = elsewhere
	}
	return errors.Join(Invalid("database", database), Invalid("storage", storage))
}

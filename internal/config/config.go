package config

import (
	"errors"
	"log/slog"
	"slices"
)

// The values of ErrorCodes.
const (
	Samples = "samples"
	Table   = "table"
)

// LogLevels are the values of LogLevel, from the most to the least talkative.
var LogLevels = []string{"debug", "info", "warn", "error"}

// Config holds the settings that are common to all commands. The tags are what
// the command line reads and shows; the values are as they came until Validate
// has returned nil.
type Config struct {
	// Data is the folder of the database, the invoice files and the lock of
	// running servers. It is made when it is missing, for its owner only.
	Data string `default:"./data" placeholder:"DIR" help:"Folder of the database and the invoice files, made when it is missing."`

	// Database says where orders are kept: sqlite://PATH, a PostgreSQL address
	// postgres://..., or empty for an SQLite file in the data folder. It may
	// hold a password and is never shown.
	Database string `placeholder:"URL" help:"Where orders are kept: postgres://user:password@host/database, or sqlite://PATH. Empty: the SQLite file orders.db in the data folder."`

	// Storage says where invoice files are kept: a bucket
	// s3://NAME?region=REGION&endpoint=URL, whose credentials come from the
	// standard AWS variables, or empty for the data folder.
	Storage string `placeholder:"URL" help:"Where invoice files are kept: s3://bucket?region=REGION&endpoint=URL, with the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Empty: in the data folder."`

	// BaseURL is the address under which clients reach the service, without a
	// slash at its end. Empty: http:// and the address listened on.
	BaseURL string `name:"base-url" placeholder:"URL" help:"Address under which clients reach the service, as behind a proxy. Empty: http:// and the address listened on."`

	// StorageURL is what the addresses of invoice files begin with, without a
	// slash at its end. Empty: {BaseURL}/storage/ and StorageNames, which
	// the service serves itself.
	StorageURL string `name:"storage-url" placeholder:"URL" help:"What the addresses of invoice files begin with. Empty: {base-url}/storage/REGION/BUCKET, served by the service itself; in the data folder the region is local, the bucket merchant-orders."`

	// ErrorCodes chooses the v2 error codes where the published samples and
	// the published table disagree (decision 5): Samples, the default, or
	// Table.
	ErrorCodes string `name:"error-codes" default:"samples" placeholder:"WORD" help:"v2 codes of a failed accept and an invalid reason: samples (10304, 10301) or table (10303, 10306)."`

	// LogLevel is the least serious level that is logged, one of LogLevels.
	// At info, the default, every request leaves a line.
	LogLevel string `name:"log-level" default:"info" placeholder:"WORD" help:"Least serious level to log: debug, info, warn or error. At info every request leaves a line."`
}

// Validate returns all faults of the settings, each as a Error, or nil. It
// creates nothing.
func (c Config) Validate() error {
	return errors.Join(
		Invalid("data", checkFolder(c.Data)),
		Invalid("database", checkDatabase(c)),
		Invalid("storage", checkStorage(c.Storage)),
		Invalid("base-url", checkURL(c.BaseURL)),
		Invalid("storage-url", checkURL(c.StorageURL)),
		Invalid("error-codes", oneOf(c.ErrorCodes, Samples, Table)),
		Invalid("log-level", oneOf(c.LogLevel, LogLevels...)),
	)
}

// Level returns LogLevel in the form that the logger takes.
func (c Config) Level() slog.Level {
	levels := []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}
	if at := slices.Index(LogLevels, c.LogLevel); at >= 0 {
		return levels[at]
	}
	return slog.LevelInfo
}

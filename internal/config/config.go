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

// LogLevels are the values of LogLevel, from the most to the least verbose.
var LogLevels = []string{"debug", "info", "warn", "error"}

// Config has the settings that are common to all commands. The command line reads
// the tags. Call Validate before using the values.
type Config struct {
	// Data is the folder of the database, the invoice files and the lock of
	// running servers. The service creates it, for its owner only.
	Data string `default:"./data" placeholder:"DIR" help:"Folder of the database and the invoice files. It is created if it does not exist."`

	// Database is the database of the orders: sqlite://PATH, a PostgreSQL URL
	// postgres://..., or empty for an SQLite file in the data folder. It may
	// contain a password and is never printed.
	Database string `placeholder:"URL" help:"Database of the orders: postgres://user:password@host/database, or sqlite://PATH. Empty: the SQLite file orders.db in the data folder."`

	// Storage is the storage of the invoice files: a bucket
	// s3://NAME?region=REGION&endpoint=URL with the credentials of the standard
	// AWS variables, or empty for the data folder.
	Storage string `placeholder:"URL" help:"Storage of the invoice files: s3://bucket?region=REGION&endpoint=URL, with the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Empty: the data folder."`

	// BaseURL is the URL at which clients reach the service. Empty: http:// and
	// the listen address.
	BaseURL string `name:"base-url" placeholder:"URL" help:"URL at which clients reach the service, for example through a proxy. Empty: http:// and the listen address."`

	// StorageURL is the start of the URLs of invoice files. Empty:
	// {BaseURL}/storage/REGION/BUCKET with StorageNames, where the service itself
	// serves the files.
	StorageURL string `name:"storage-url" placeholder:"URL" help:"Start of the URLs of invoice files. Empty: {base-url}/storage/REGION/BUCKET, served by the service itself; in the data folder the region is local, the bucket merchant-orders."`

	// ErrorCodes selects the v2 error codes where the published samples and the
	// published table differ (decision 5): Samples, the default, or Table.
	ErrorCodes string `name:"error-codes" default:"samples" placeholder:"WORD" help:"v2 codes of a failed accept and an invalid reason: samples (10304, 10301) or table (10303, 10306)."`

	// LogLevel is the lowest level that is logged, one of LogLevels. Requests are
	// logged at info, the default.
	LogLevel string `name:"log-level" default:"info" placeholder:"WORD" help:"Lowest level to log: debug, info, warn or error. Requests are logged at info."`
}

// Validate returns the *Error of every invalid setting, joined, or nil. It
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

// Level returns LogLevel as a slog.Level.
func (c Config) Level() slog.Level {
	levels := []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}
	if at := slices.Index(LogLevels, c.LogLevel); at >= 0 {
		return levels[at]
	}
	return slog.LevelInfo
}

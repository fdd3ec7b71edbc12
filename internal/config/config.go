// Package config defines the settings of the service: the meaning, unit and
// default of each, its flag and environment variable, and a method Check that
// reports all invalid settings at once.
//
// It opens no database, creates no folder and listens on no port.
package config

import (
	"cmp"
	"errors"
	"log/slog"
	"strings"
	"time"

	"merchantorders/internal/order"
)

// The values of ErrorCodes.
const (
	Samples = "samples"
	Table   = "table"
)

// Config has the settings that are common to all commands. The tags give the
// meaning and the default of each, and the command line reads them. Call Check
// before using the values.
type Config struct {
	// Data is created for its owner only. It has the lock of running servers too.
	Data string `default:"./data" placeholder:"DIR" help:"Folder of the database and the invoice files. serve and merchant add create it."`

	// Database may contain a password and is never printed.
	Database string `secret:"" placeholder:"URL" help:"Database of the orders: postgres://user:password@host/database, or sqlite://PATH. Empty: the SQLite file orders.db in the data folder."`

	Storage string `placeholder:"URL" help:"Storage of the invoice files: s3://bucket?region=REGION&endpoint=URL, with credentials where Amazon's tools look for them, or file:///FOLDER. Empty: the data folder; not allowed with PostgreSQL."`

	BaseURL string `name:"base-url" placeholder:"URL" help:"URL at which clients reach the service. Empty: http:// or https:// and the listen address."`

	AdminBaseURL string `name:"admin-base-url" placeholder:"URL" help:"URL at which operators reach --admin-listen through a proxy. That port then serves neither /metrics nor /debug/pprof; --metrics-listen does. Empty: the address in the browser."`

	// StorageURL by default has the names of StorageNames.
	StorageURL string `name:"storage-url" placeholder:"URL" help:"Start of the URLs of invoice files. Empty: {base-url}/storage/REGION/BUCKET, served by the service; in the data folder the region is local, the bucket merchant-orders."`

	// ErrorCodes matters where the published samples and the published table differ
	// (decision 5).
	ErrorCodes string `name:"error-codes" default:"samples" placeholder:"WORD" help:"v2 codes of a failed accept and an invalid reason: samples (10304, 10301) or table (10303, 10306)."`

	MaxTokenLifetime Duration `name:"max-token-lifetime" default:"0" placeholder:"DURATION" help:"Longest lifetime of a new token, such as 365d or 8760h, also if none is requested. 0: no limit."`

	LogLevel string `name:"log-level" default:"info" placeholder:"WORD" help:"Lowest level to log: debug, info, warn or error. Requests are logged at info."`
}

// Check returns the *Error of every invalid setting, joined, or nil. It
// creates nothing.
func (c Config) Check() error {
	return errors.Join(
		Invalid("data", checkFolder(c.Data)),
		Invalid("database", checkDatabase(c)),
		Invalid("storage", checkStorage(c.Storage)),
		Invalid("base-url", CheckURL(c.BaseURL)),
		Invalid("admin-base-url", CheckURL(c.AdminBaseURL)),
		Invalid("storage-url", CheckURL(c.StorageURL)),
		Invalid("error-codes", oneOf(c.ErrorCodes, Samples, Table)),
		Invalid("max-token-lifetime", checkTokenLifetime(c.MaxTokenLifetime)),
		Invalid("log-level", oneOf(c.LogLevel, "debug", "info", "warn", "error")),
	)
}

// Level returns LogLevel as a slog.Level.
func (c Config) Level() slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // Check has found it valid
	return level
}

// checkTokenLifetime returns what is wrong with a MaxTokenLifetime.
func checkTokenLifetime(text Duration) string {
	if text == "" {
		return ""
	}
	return text.check("must be a duration of at least 1h, such as 8760h or 365d, or 0 for no limit", func(d time.Duration) bool { return d == 0 || d >= time.Hour })
}

// Duration is the text of a setting that is a duration.
type Duration string

// Value returns the duration, which Check has found valid.
func (text Duration) Value() time.Duration {
	d, _ := order.ParseDuration(string(text))
	return d
}

// check returns a problem if the text is not a duration, or not a valid one; nil: all are.
func (text Duration) check(problem string, valid func(time.Duration) bool) string {
	if d, ok := order.ParseDuration(string(text)); !ok || valid != nil && !valid(d) {
		return problem
	}
	return ""
}

// Target has the target of a copy. What it does not name is not copied.
type Target struct {
	Data     string `name:"to-data" placeholder:"DIR" help:"Data folder to copy to, created if it does not exist, unless --to-database or --to-storage names another target."`
	Database string `name:"to-database" secret:"" placeholder:"URL" help:"Database to copy to, in the form of --database."`
	Storage  string `name:"to-storage" placeholder:"URL" help:"Storage to copy invoice files to, in the form of --storage."`
}

// Config returns the settings of a service on the target.
func (t Target) Config() Config {
	return Config{Data: t.Data, Database: t.Database, Storage: t.Storage}
}

// MovesDatabase reports whether orders are copied.
func (t Target) MovesDatabase() bool { return t.Data != "" || t.Database != "" }

// MovesFiles reports whether invoice files are copied.
func (t Target) MovesFiles() bool { return t.Data != "" || t.Storage != "" }

// Check returns the *Error of every invalid setting, joined, or nil.
func (t Target) Check() error {
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

// CheckStorage returns an *Error if the database is PostgreSQL and no storage is
// named. The instances of a service would each store files in a folder that the
// others do not see.
func (c Config) CheckStorage() error {
	if c.DatabaseLocation().Kind == Postgres && c.Storage == "" {
		return Invalid("storage", "is required with PostgreSQL: s3://BUCKET?region=REGION, or file:///FOLDER for a folder that all instances share, such as file:///var/lib/merchant-orders/files")
	}
	return nil
}

// Embedded returns nil if the database is SQLite and the storage is a local
// folder, else the *Error of each setting that is not.
func (c Config) Embedded() error {
	const elsewhere = "is not supported by this command; docs/postgresql.md describes backups of PostgreSQL and S3"
	var database, storage string
	if c.DatabaseLocation().Kind != SQLite {
		database = elsewhere
	}
	if strings.HasPrefix(c.Storage, s3Scheme) {
		storage = elsewhere
	}
	return errors.Join(Invalid("database", database), Invalid("storage", storage))
}

// variablePrefix is the prefix of every environment variable.
const variablePrefix = "MERCHANT_ORDERS_"

// Variable returns the environment variable of a flag: MERCHANT_ORDERS_BASE_URL
// for base-url.
func Variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Error describes one invalid setting.
type Error struct {
	Flag    string // without dashes
	Problem string // such as "must be ..."; never a value that may be secret
	From    string // where the value is set; empty: the flag or its variable
}

// Error implements error: the flag, where it is set, and the problem.
func (f *Error) Error() string {
	return "--" + f.Flag + " (" + cmp.Or(f.From, Variable(f.Flag)) + "): " + f.Problem
}

// Invalid returns an *Error of a flag, or nil if problem is empty.
func Invalid(flag, problem string) error {
	if problem == "" {
		return nil
	}
	return &Error{Flag: flag, Problem: problem}
}

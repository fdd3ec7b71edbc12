package config

import (
	"net/url"
	"path/filepath"
	"strings"
)

// The addresses that Database and Storage may be, but for the empty ones.
const (
	sqliteScheme = "sqlite://"
	s3Scheme     = "s3://"
)

// postgresSchemes are the two spellings that PostgreSQL's own tools take.
var postgresSchemes = []string{"postgres://", "postgresql://"}

// PostgresURL returns the address of a PostgreSQL database, and whether
// Database is one.
func (c Config) PostgresURL() (string, bool) {
	for _, scheme := range postgresSchemes {
		if strings.HasPrefix(c.Database, scheme) {
			return c.Database, true
		}
	}
	return "", false
}

// DatabasePath returns the path of the SQLite file, where Database is one.
func (c Config) DatabasePath() string {
	if path, ok := strings.CutPrefix(c.Database, sqliteScheme); ok {
		return path
	}
	return filepath.Join(c.Data, "orders.db")
}

// FilesPath returns the folder of the invoice files, or, where they are kept
// in a bucket, that of the files on their way there.
func (c Config) FilesPath() string { return filepath.Join(c.Data, "files") }

// LockPath returns the file by which servers know of each other. It belongs to
// the database that they share; those on PostgreSQL share a data folder at the
// most.
func (c Config) LockPath() string {
	if path, ok := strings.CutPrefix(c.Database, sqliteScheme); ok {
		return path + ".serve.lock"
	}
	return filepath.Join(c.Data, "serve.lock")
}

// Bucket is where Storage says that invoice files are kept.
type Bucket struct {
	Name     string
	Region   string
	Endpoint string // empty: Amazon's of the region
}

// defaultRegion is that of a bucket whose address names none.
const defaultRegion = "us-east-1"

// Bucket returns the bucket of the invoice files, and whether Storage is one.
func (c Config) Bucket() (Bucket, bool) {
	bucket, problem := parseBucket(c.Storage)
	return bucket, problem == "" && c.Storage != ""
}

// StorageNames returns the region and the bucket that stand in the addresses
// of invoice files which the service serves itself.
func (c Config) StorageNames() (region, bucket string) {
	if b, ok := c.Bucket(); ok {
		return b.Region, b.Name
	}
	return LocalRegion, LocalBucket
}

// parseBucket reads s3://NAME?region=REGION&endpoint=URL, or says what is wrong.
func parseBucket(text string) (Bucket, string) {
	const form = "must be empty or s3://BUCKET?region=REGION&endpoint=URL"
	if !strings.HasPrefix(text, s3Scheme) {
		return Bucket{}, form
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return Bucket{}, form + "; credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	}
	if !validBucketName(u.Host) {
		return Bucket{}, "must name a bucket: 3 to 63 of a-z 0-9 . -"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Bucket{}, form
	}
	for name, values := range query {
		if name != "region" && name != "endpoint" || len(values) > 1 {
			return Bucket{}, "takes region and endpoint, once each: " + form
		}
	}
	bucket := Bucket{Name: u.Host, Region: query.Get("region"), Endpoint: trimURL(query.Get("endpoint"))}
	if bucket.Region == "" {
		bucket.Region = defaultRegion
	}
	if !validBucketName(bucket.Region) {
		return Bucket{}, "must name a region such as eu-central-1"
	}
	if problem := checkEndpoint(bucket.Endpoint); problem != "" {
		return Bucket{}, "must have an endpoint that is an address such as https://s3.example.com"
	}
	return bucket, ""
}

// checkEndpoint looks at the address of an S3 server.
func checkEndpoint(text string) string {
	if problem := checkURL(text); problem != "" {
		return problem
	}
	if u, err := url.Parse(text); err != nil || u.Path != "" {
		return "must have no path"
	}
	return ""
}

// validBucketName reports whether text has the form of a bucket's name.
func validBucketName(text string) bool {
	if len(text) < 3 || len(text) > 63 {
		return false
	}
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

// checkPostgres looks whether the address of a PostgreSQL database names a host
// and a database; the rest is the driver's to read. The standard library cannot
// do it: there may be several hosts, separated by commas, for one to take over
// from another. The value is not repeated: it may hold a password.
func checkPostgres(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	rest, options, _ := strings.Cut(rest, "?")
	query, err := url.ParseQuery(options)
	if err != nil || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return badPostgres
	}
	hosts, database, _ := strings.Cut(rest[strings.LastIndex(rest, "@")+1:], "/")
	if hosts == "" && query.Get("host") == "" || database == "" && query.Get("dbname") == "" {
		return badPostgres
	}
	return ""
}

const badPostgres = "must be an address such as postgres://user:password@host:5432/database"

package config

import (
	"cmp"
	"errors"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// URL schemes of Database and Storage.
const (
	sqliteScheme = "sqlite://"
	s3Scheme     = "s3://"
	fileScheme   = "file://"
)

// postgresSchemes are the two schemes that PostgreSQL's tools accept.
var postgresSchemes = []string{"postgres://", "postgresql://"}

// DatabaseKind is a kind of database.
type DatabaseKind int

// The kinds of database.
const (
	SQLite DatabaseKind = iota
	Postgres
)

// Location is where the orders are stored.
type Location struct {
	Kind    DatabaseKind
	Address string // the path of the SQLite file; the URL of PostgreSQL, which may contain a password
}

// File returns the path of the database file; empty if a server has the database.
func (l Location) File() string {
	if l.Kind == SQLite {
		return l.Address
	}
	return ""
}

// DatabaseLocation returns where the orders are stored.
func (c Config) DatabaseLocation() Location {
	for _, scheme := range postgresSchemes {
		if strings.HasPrefix(c.Database, scheme) {
			return Location{Postgres, c.Database}
		}
	}
	if path, ok := strings.CutPrefix(c.Database, sqliteScheme); ok {
		return Location{SQLite, path}
	}
	return Location{SQLite, filepath.Join(c.Data, "orders.db")}
}

// Folders returns the local folders that the service writes to, by what is in them.
func (c Config) Folders() map[string]string {
	folders := map[string]string{"files": c.FilesPath()}
	if file := c.DatabaseLocation().File(); file != "" {
		folders["database"] = filepath.Dir(file)
	}
	return folders
}

// FilesPath returns the folder of the invoice files. If they are in a bucket, it
// is the folder of staged files.
func (c Config) FilesPath() string {
	if path, ok := strings.CutPrefix(c.Storage, fileScheme); ok {
		return path
	}
	return filepath.Join(c.Data, "files")
}

// DatabaseName returns the database for people, without user name and password.
func (c Config) DatabaseName() string {
	at := c.DatabaseLocation()
	if file := at.File(); file != "" {
		return sqliteScheme + absolute(file)
	}
	address, options, _ := strings.Cut(at.Address, "?")
	_, rest, _ := strings.Cut(address, "://")
	hosts, name, _ := strings.Cut(rest[strings.LastIndex(rest, "@")+1:], "/")
	if query, err := url.ParseQuery(options); err == nil {
		// As in PostgreSQL's own tools, the options take precedence.
		hosts, name = cmp.Or(query.Get("host"), hosts), cmp.Or(query.Get("dbname"), name)
	}
	return "postgres://" + hosts + "/" + name
}

// StorageName returns the storage for people. It contains no secrets.
func (c Config) StorageName() string {
	b, ok := c.Bucket()
	switch {
	case !ok:
		return fileScheme + absolute(c.FilesPath())
	case b.Endpoint == "":
		return s3Scheme + b.Name + "?region=" + b.Region
	}
	return s3Scheme + b.Name + "?region=" + b.Region + "&endpoint=" + b.Endpoint
}

// absolute returns the absolute form of a path.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// FilesInData reports whether invoice files, or staged files, are in the data folder.
func (c Config) FilesInData() bool { return !strings.HasPrefix(c.Storage, fileScheme) }

// Bucket is an S3 bucket, from Storage.
type Bucket struct {
	Name     string
	Region   string
	Endpoint string // empty: Amazon's of the region
}

// defaultRegion is the region of a Storage with an endpoint and without a region:
// other servers than Amazon's have it unless they are told another one.
const defaultRegion = "us-east-1"

// Bucket returns the bucket of the invoice files, and whether they are in one.
func (c Config) Bucket() (Bucket, bool) {
	bucket, _ := parseBucket(c.Storage)
	return bucket, bucket.Name != ""
}

// StorageNames returns the region and the bucket in the URLs of invoice files that
// the service serves itself.
func (c Config) StorageNames() (region, bucket string) {
	if b, ok := c.Bucket(); ok {
		return b.Region, b.Name
	}
	return LocalRegion, LocalBucket
}

// bucketName matches the names of buckets and regions.
var bucketName = regexp.MustCompile(`^[a-z0-9.-]{3,63}$`)

// parseBucket parses s3://NAME?region=REGION&endpoint=URL. It also returns what is
// wrong.
func parseBucket(text string) (Bucket, string) {
	const form = "must be empty or s3://BUCKET?region=REGION&endpoint=URL, or file:///FOLDER"
	if !strings.HasPrefix(text, s3Scheme) {
		return Bucket{}, form
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return Bucket{}, form + "; credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	}
	if !bucketName.MatchString(u.Host) {
		return Bucket{}, "must contain the name of a bucket: 3 to 63 of a-z 0-9 . -"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Bucket{}, form
	}
	for name, values := range query {
		if name != "region" && name != "endpoint" || len(values) > 1 {
			return Bucket{}, "must have no options but region and endpoint, each once: " + form
		}
	}
	bucket := Bucket{Name: u.Host, Region: query.Get("region"), Endpoint: trimURL(query.Get("endpoint"))}
	if bucket.Region == "" {
		if bucket.Endpoint == "" {
			return Bucket{}, "must name the region of the bucket, such as s3://" + u.Host + "?region=eu-central-1"
		}
		bucket.Region = defaultRegion
	}
	if !bucketName.MatchString(bucket.Region) {
		return Bucket{}, "must contain a region such as eu-central-1"
	}
	endpoint, err := url.Parse(bucket.Endpoint)
	if err != nil || endpoint.Path != "" || CheckURL(bucket.Endpoint) != "" {
		return Bucket{}, "must contain an endpoint such as https://s3.example.com"
	}
	return bucket, ""
}

// objectKey matches the keys of objects that hold a backup.
var objectKey = regexp.MustCompile(`^(?:[\w=-][\w.=-]*/)*[\w=-][\w.=-]*\.(?:tar|tar\.gz|tgz)$`)

// IsObject reports whether the place of a backup is in a bucket.
func IsObject(text string) bool { return strings.HasPrefix(text, s3Scheme) }

// ParseObject parses s3://BUCKET/KEY?region=REGION&endpoint=URL, the place of a backup in a
// bucket.
func ParseObject(text string) (bucket Bucket, key string, err error) {
	place, options, _ := strings.Cut(text, "?")
	name, key, _ := strings.Cut(strings.TrimPrefix(place, s3Scheme), "/")
	if !objectKey.MatchString(key) {
		return Bucket{}, "", errors.New("a backup in a bucket is s3://BUCKET/PATH?region=REGION&endpoint=URL, and its PATH ends in .tar, .tar.gz or .tgz and has only letters, digits and . _ - = /")
	}
	bucket, problem := parseBucket(s3Scheme + name + "?" + options)
	if problem != "" {
		return Bucket{}, "", errors.New("the bucket of the backup " + problem)
	}
	return bucket, key, nil
}

// checkPostgres checks that a PostgreSQL URL has a host and a database. The driver
// checks the rest. url.Parse cannot be used: the URL may have several hosts,
// separated by commas. The error does not repeat the value, which may contain a
// password.
func checkPostgres(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		// Of a password with one of these characters the driver would take a part for
		// the host, and errors would show it.
		if _, err := url.PathUnescape(rest[:at]); err != nil || strings.ContainsAny(rest[:at], "@#/?[]") {
			return badCredentials
		}
		rest = rest[at+1:]
	}
	rest, options, _ := strings.Cut(rest, "?")
	query, err := url.ParseQuery(options)
	if err != nil || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return badPostgres
	}
	hosts, database, _ := strings.Cut(rest, "/")
	if query.Get("service") == "" && (hosts == "" && query.Get("host") == "" || database == "" && query.Get("dbname") == "") {
		return badPostgres
	}
	return ""
}

const (
	badPostgres    = "must be a URL such as postgres://user:password@host:5432/database"
	badCredentials = "is not a PostgreSQL URL: it contains a special character before the last @; write @ as %40, # as %23, / as %2F, ? as %3F, [ as %5B, ] as %5D and % as %25"
)

// checkStorage checks the URL of a storage.
func checkStorage(text string) string {
	path, ok := strings.CutPrefix(text, fileScheme)
	switch {
	case text == "":
		return ""
	case !ok:
		_, problem := parseBucket(text)
		return problem
	case !filepath.IsAbs(path) || strings.ContainsAny(path, "?#\x00"):
		return "must be the full path of a folder: file:///FOLDER, without ? and #"
	}
	return checkFolder(path)
}

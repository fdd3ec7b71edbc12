package config_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/testenv"
)

// good returns valid settings.
func good(t *testing.T) config.Config {
	t.Helper()
	return config.Config{Data: filepath.Join(t.TempDir(), "data"), ErrorCodes: config.Samples, LogLevel: "info"}
}

// goodServe returns valid settings of serve.
func goodServe() config.Serve {
	return config.Serve{
		Listen: ":0", RateLimit: "100", Retain: "0", RetainConfirmed: "0", DeadlineWarning: "0", PurgeDeletedAfter: "30d", IdleTimeout: "30s", LogFormat: config.LogJSON, Drain: "0s", Wait: "0s",
	}
}

func TestCheckAcceptsDefaultsAndCreatesNothing(t *testing.T) {
	t.Parallel()
	c := good(t)
	testenv.NoError(t, c.Check())
	testenv.Of(os.Stat(c.Data)).WantError(t, "the data folder", os.ErrNotExist)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	testenv.NoError(t, os.WriteFile(file, nil, 0o600))
	cases := []struct {
		name   string
		change func(*config.Config)
		want   string // the error; empty: none
	}{
		{"a folder deep below", func(c *config.Config) { c.Data += "/a/b" }, ""},
		{"a folder that is there", func(c *config.Config) { c.Data = filepath.Dir(file) }, ""},
		{"no folder", func(c *config.Config) { c.Data = "" }, "--data (MERCHANT_ORDERS_DATA): must be the name of a folder"},
		{"a file for a folder", func(c *config.Config) { c.Data = file }, "--data (MERCHANT_ORDERS_DATA): must be a folder that this user may write to: " + file + " is a file"},
		{"a folder below a file", func(c *config.Config) { c.Data = file + "/data" }, "--data (MERCHANT_ORDERS_DATA): must be a folder that this user may write to: not a directory"},

		{"SQLite elsewhere", func(c *config.Config) { c.Database = "sqlite://" + filepath.Dir(file) + "/other.db" }, ""},
		{"SQLite without a file", func(c *config.Config) { c.Database = "sqlite://" }, "--database (MERCHANT_ORDERS_DATABASE): must be the name of a file: sqlite://PATH, without ? and #"},
		{"SQLite with options", func(c *config.Config) { c.Database = "sqlite:///a.db?mode=ro" }, "--database (MERCHANT_ORDERS_DATABASE): must be the name of a file: sqlite://PATH, without ? and #"},
		{"SQLite on a folder", func(c *config.Config) { c.Database = "sqlite://" + filepath.Dir(file) }, "--database (MERCHANT_ORDERS_DATABASE): must be the name of a file; " + filepath.Dir(file) + " is a folder"},
		{"SQLite below a file", func(c *config.Config) { c.Database = "sqlite://" + file + "/a.db" }, "--database (MERCHANT_ORDERS_DATABASE): must be the name of a file in a folder that this user may write to"},
		{"another database", func(c *config.Config) { c.Database = "mysql://u:secret@db/orders" }, "--database (MERCHANT_ORDERS_DATABASE): must be empty, sqlite://PATH or postgres://user:password@host/database"},
		{"PostgreSQL", func(c *config.Config) { c.Database = "postgres://u:secret@db:5432/orders?sslmode=require" }, ""},
		{"PostgreSQL by its long name", func(c *config.Config) { c.Database = "postgresql://db/orders" }, ""},
		{"PostgreSQL on several hosts", func(c *config.Config) {
			c.Database = "postgres://u:s%40cret@one:5432,[::1]:5433/orders?target_session_attrs=read-write"
		}, ""},
		{"PostgreSQL on a socket", func(c *config.Config) { c.Database = "postgres:///orders?host=/var/run/postgresql" }, ""},
		{"PostgreSQL with its database as an option", func(c *config.Config) { c.Database = "postgres://db?dbname=orders" }, ""},
		{"PostgreSQL of a service file", func(c *config.Config) { c.Database = "postgres:///?service=orders" }, ""},
		{"PostgreSQL without a host", func(c *config.Config) { c.Database = "postgres:///orders" }, badPostgres},
		{"PostgreSQL without a database", func(c *config.Config) { c.Database = "postgres://u:secret@db" }, badPostgres},
		{"PostgreSQL with an empty database", func(c *config.Config) { c.Database = "postgres://u:secret@db/" }, badPostgres},
		{"PostgreSQL with nothing", func(c *config.Config) { c.Database = "postgres://" }, badPostgres},
		{"PostgreSQL with a space", func(c *config.Config) { c.Database = "postgres://u:sec ret@db/orders" }, badPostgres},
		{"PostgreSQL with broken options", func(c *config.Config) { c.Database = "postgres://u:secret@db/orders?a=%zz" }, badPostgres},

		{"PostgreSQL with escapes", func(c *config.Config) { c.Database = "postgres://u%23:s%40%2F%3F%25@db/orders" }, ""},
		{"PostgreSQL with @ in the password", func(c *config.Config) { c.Database = "postgres://u:sec@ret@db/orders" }, badCredentials},
		{"PostgreSQL with # in the password", func(c *config.Config) { c.Database = "postgres://u:1#ret@db/orders" }, badCredentials},
		{"PostgreSQL with / in the password", func(c *config.Config) { c.Database = "postgres://u:1/ret@db/orders" }, badCredentials},
		{"PostgreSQL with ? in the password", func(c *config.Config) { c.Database = "postgres://u:1?ret@db/orders" }, badCredentials},
		{"PostgreSQL with % in the password", func(c *config.Config) { c.Database = "postgres://u:1%ret@db/orders" }, badCredentials},

		{"a folder for files", func(c *config.Config) { c.Storage = "file://" + filepath.Dir(file) + "/files" }, ""},
		{"a relative folder for files", func(c *config.Config) { c.Storage = "file://files" }, "--storage (MERCHANT_ORDERS_STORAGE): must be the full path of a folder: file:///FOLDER, without ? and #"},
		{"a file for files", func(c *config.Config) { c.Storage = "file://" + file }, "--storage (MERCHANT_ORDERS_STORAGE): must be a folder that this user may write to: " + file + " is a file"},
		{"a bucket", func(c *config.Config) { c.Storage = "s3://invoices?region=eu-central-1" }, ""},
		{"a bucket without a region", func(c *config.Config) { c.Storage = "s3://invoices" }, "--storage (MERCHANT_ORDERS_STORAGE): must name the region of the bucket, such as s3://invoices?region=eu-central-1"},
		{"a bucket without a region, not of Amazon", func(c *config.Config) { c.Storage = "s3://invoices?endpoint=https://s3.example.com" }, ""},
		{"a bucket elsewhere", func(c *config.Config) {
			c.Storage = "s3://invoices.example/?region=eu-central-1&endpoint=http://127.0.0.1:9000/"
		}, ""},
		{"another storage", func(c *config.Config) { c.Storage = "gs://bucket" }, badStorage},
		{"a bucket with credentials", func(c *config.Config) { c.Storage = "s3://key:secret@bucket" }, badStorage + "; credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		{"a path in a bucket", func(c *config.Config) { c.Storage = "s3://bucket/folder" }, badStorage + "; credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		{"a bucket without a name", func(c *config.Config) { c.Storage = "s3://?region=eu-central-1" }, "--storage (MERCHANT_ORDERS_STORAGE): must contain the name of a bucket: 3 to 63 of a-z 0-9 . -"},
		{"a bucket with a strange name", func(c *config.Config) { c.Storage = "s3://My_Bucket" }, "--storage (MERCHANT_ORDERS_STORAGE): must contain the name of a bucket: 3 to 63 of a-z 0-9 . -"},
		{"a bucket with a strange region", func(c *config.Config) { c.Storage = "s3://bucket?region=EU%20Central" }, "--storage (MERCHANT_ORDERS_STORAGE): must contain a region such as eu-central-1"},
		{"a bucket with a strange endpoint", func(c *config.Config) { c.Storage = "s3://bucket?region=r-1&endpoint=s3.example.com" }, "--storage (MERCHANT_ORDERS_STORAGE): must contain an endpoint such as https://s3.example.com"},
		{"an endpoint with a path", func(c *config.Config) { c.Storage = "s3://bucket?endpoint=https://example.com/s3" }, "--storage (MERCHANT_ORDERS_STORAGE): must contain an endpoint such as https://s3.example.com"},
		{"a bucket with other options", func(c *config.Config) { c.Storage = "s3://bucket?secret=x" }, "--storage (MERCHANT_ORDERS_STORAGE): must have no options but region and endpoint, each once: must be empty or s3://BUCKET?region=REGION&endpoint=URL, or file:///FOLDER"},
		{"a bucket with two regions", func(c *config.Config) { c.Storage = "s3://bucket?region=one&region=two" }, "--storage (MERCHANT_ORDERS_STORAGE): must have no options but region and endpoint, each once: must be empty or s3://BUCKET?region=REGION&endpoint=URL, or file:///FOLDER"},

		{"an address", func(c *config.Config) { c.BaseURL = "https://orders.example.com" }, ""},
		{"an address with path and slash", func(c *config.Config) { c.BaseURL = "http://example.com:8443/shop/" }, ""},
		{"an IPv6 address", func(c *config.Config) { c.BaseURL = "http://[::1]:8080" }, ""},
		{"no scheme", func(c *config.Config) { c.BaseURL = "orders.example.com" }, "--base-url (MERCHANT_ORDERS_BASE_URL): must be a URL such as https://orders.example.com"},
		{"another scheme", func(c *config.Config) { c.BaseURL = "ftp://example.com" }, "--base-url (MERCHANT_ORDERS_BASE_URL): must be a URL such as https://orders.example.com"},
		{"no host", func(c *config.Config) { c.BaseURL = "http://:8080" }, "--base-url (MERCHANT_ORDERS_BASE_URL): must be a URL such as https://orders.example.com"},
		{"a port too big", func(c *config.Config) { c.BaseURL = "http://a:70000" }, "--base-url (MERCHANT_ORDERS_BASE_URL): must have a port from 0 to 65535"},
		{"a query", func(c *config.Config) { c.BaseURL = "http://example.com?" }, "--base-url (MERCHANT_ORDERS_BASE_URL): must not contain a query (?) or a fragment (#)"},
		{"a fragment", func(c *config.Config) { c.StorageURL = "http://example.com/#x" }, "--storage-url (MERCHANT_ORDERS_STORAGE_URL): must not contain a query (?) or a fragment (#)"},
		{"a password", func(c *config.Config) { c.StorageURL = "https://u:p@example.com" }, "--storage-url (MERCHANT_ORDERS_STORAGE_URL): must not contain a user name or password"},
		{"a space", func(c *config.Config) { c.StorageURL = "https://example.com/a b" }, "--storage-url (MERCHANT_ORDERS_STORAGE_URL): must not contain spaces or characters other than ASCII"},

		{"table codes", func(c *config.Config) { c.ErrorCodes = config.Table }, ""},
		{"other codes", func(c *config.Config) { c.ErrorCodes = "Table" }, "--error-codes (MERCHANT_ORDERS_ERROR_CODES): must be samples or table"},
		{"another level", func(c *config.Config) { c.LogLevel = "loud" }, "--log-level (MERCHANT_ORDERS_LOG_LEVEL): must be debug, info, warn or error"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := good(t)
			tc.change(&c)
			got := ""
			if err := c.Check(); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

const (
	badPostgres = "--database (MERCHANT_ORDERS_DATABASE): must be a URL such as postgres://user:password@host:5432/database"
	badStorage  = "--storage (MERCHANT_ORDERS_STORAGE): must be empty or s3://BUCKET?region=REGION&endpoint=URL, or file:///FOLDER"

	badCredentials = "--database (MERCHANT_ORDERS_DATABASE): is not a PostgreSQL URL: it contains a special character before the last @;" +
		" write @ as %40, # as %23, / as %2F, ? as %3F, [ as %5B, ] as %5D and % as %25"
)

func TestCheckReportsAllErrors(t *testing.T) {
	t.Parallel()
	c := config.Config{Database: "mysql://x", Storage: "x", BaseURL: "x", AdminBaseURL: "x", StorageURL: "x"}
	var flags []string
	for line := range strings.Lines(c.Check().Error()) {
		flags = append(flags, strings.Fields(line)[0])
	}
	want := []string{"--data", "--database", "--storage", "--base-url", "--admin-base-url", "--storage-url", "--error-codes", "--log-level"}
	testenv.Equal(t, "flags with errors", want, flags)
}

func TestCheckStorage(t *testing.T) {
	t.Parallel()
	for c, want := range map[config.Config]bool{
		{}:                                true,
		{Database: "postgres://h/d"}:      false,
		{Database: "postgresql://h/d"}:    false,
		{Database: "sqlite:///orders.db"}: true,
		{Database: "postgres://h/d", Storage: "file:///var/files"}:       true,
		{Database: "postgres://h/d", Storage: "s3://b?region=eu-west-1"}: true,
	} {
		if err := c.CheckStorage(); (err == nil) != want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestNamesForPeople(t *testing.T) {
	t.Parallel()
	for c, want := range map[config.Config][2]string{
		{Data: "/d"}: {"sqlite:///d/orders.db", "file:///d/files"},
		{Data: "/d", Database: "sqlite:///x/../o.db", Storage: "file:///files"}: {"sqlite:///o.db", "file:///files"},
		{Database: "postgres://u:secret@a:5432,b/orders?sslmode=require&password=secret", Storage: "s3://files?region=eu-central-1"}: {
			"postgres://a:5432,b/orders", "s3://files?region=eu-central-1"},
		{Database: "postgresql:///orders?host=/run/pg&user=secret", Storage: "s3://files?endpoint=https://s3.example.com/"}: {
			"postgres:///run/pg/orders", "s3://files?region=us-east-1&endpoint=https://s3.example.com"},
	} {
		testenv.Equal(t, fmt.Sprintf("%+v", c), want, [2]string{c.DatabaseName(), c.StorageName()})
	}
}

// TestServeRefuses checks that a wrong value is an error of its flag.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	for flag, test := range map[string]struct {
		field func(*config.Serve) *string
		texts []string
	}{
		"listen": {func(s *config.Serve) *string { return &s.Listen },
			[]string{"", "8080", "127.0.0.1", "127.0.0.1:", "::1:80", "host:http", "a:65536", "a:-1", "a:+1", "a:01", "a b:80"}},
		"rate-limit": {func(s *config.Serve) *string { return &s.RateLimit },
			[]string{"", "-1", "10001", "99999999999999999999", "1.5", "x", "+5", "007", " 5", "100/s"}},
		"max-connections":     {func(s *config.Serve) *string { return &s.MaxConnections }, []string{"0", "15", "1000001", "x", "-1", "016", "1e3"}},
		"purge-deleted-after": {func(s *config.Serve) *string { return (*string)(&s.PurgeDeletedAfter) }, []string{"", "30", "-1h", "x"}},
		"deadline-warning":    {func(s *config.Serve) *string { return (*string)(&s.DeadlineWarning) }, []string{"", "30", "-1h", "x"}},
		"idle-timeout":        {func(s *config.Serve) *string { return (*string)(&s.IdleTimeout) }, []string{"", "0", "30", "-30s", "999ms", "61m", "x"}},
		"retain":              {func(s *config.Serve) *string { return (*string)(&s.Retain) }, []string{"", "d", "30", "-1d", "-1h", "1.5d", "23h", "99999d", "x"}},
		"log-format":          {func(s *config.Serve) *string { return &s.LogFormat }, []string{"", "JSON", "logfmt"}},
	} {
		for _, text := range test.texts {
			s := goodServe()
			*test.field(&s) = text
			want := "--" + flag + " (" + config.Variable(flag) + "): must be "
			if err := s.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("--%s=%q: error %v", flag, text, err)
			}
		}
	}
}

func TestServeAccepts(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:8080", ":0", "0.0.0.0:80", "[::]:8080", "[::1]:0", "localhost:65535"} {
		s := goodServe()
		s.Listen = address
		testenv.Equal(t, address, nil, s.Check())
	}
	for text, want := range map[string]int{"0": 0, "1": 1, "100": 100, "10000": 10_000} {
		s := goodServe()
		s.RateLimit = text
		if err := s.Check(); err != nil || s.Requests() != want {
			t.Errorf("%s: %d requests, %v", text, s.Requests(), err)
		}
	}
	for text, want := range map[string]time.Duration{"0": 0, "0s": 0, "1d": 24 * time.Hour, "3650d": 87600 * time.Hour, "87600h": 87600 * time.Hour} {
		s := goodServe()
		s.Retain = config.Duration(text)
		if err := s.Check(); err != nil || s.Retain.Value() != want {
			t.Errorf("%q: %v, error %v", text, s.Retain.Value(), err)
		}
	}
	s := goodServe()
	s.LogFormat = config.LogText
	testenv.NoError(t, s.Check())
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	cases := []struct {
		name          string
		config        config.Config
		bound         net.Addr
		base, storage string
	}{
		{"defaults", config.Config{}, local,
			"http://127.0.0.1:4711", "http://127.0.0.1:4711/storage/local/merchant-orders"},
		{"with TLS", config.Config{}, local,
			"https://127.0.0.1:4711", "https://127.0.0.1:4711/storage/local/merchant-orders"},
		{"any IPv4 address", config.Config{}, &net.TCPAddr{IP: net.IPv4zero, Port: 80},
			"http://localhost:80", "http://localhost:80/storage/local/merchant-orders"},
		{"any IPv6 address", config.Config{}, &net.TCPAddr{IP: net.IPv6zero, Port: 80},
			"http://localhost:80", "http://localhost:80/storage/local/merchant-orders"},
		{"an IPv6 address", config.Config{}, &net.TCPAddr{IP: net.IPv6loopback, Port: 80},
			"http://[::1]:80", "http://[::1]:80/storage/local/merchant-orders"},
		{"behind a proxy", config.Config{BaseURL: "https://orders.example.com/"}, local,
			"https://orders.example.com", "https://orders.example.com/storage/local/merchant-orders"},
		{"files elsewhere", config.Config{StorageURL: "https://cdn.example.com/eu/files//"}, local,
			"http://127.0.0.1:4711", "https://cdn.example.com/eu/files"},
	}
	for _, tc := range cases {
		base, storage := tc.config.Addresses(config.LocalURL(tc.bound, tc.name == "with TLS"))
		if base != tc.base || storage != tc.storage {
			t.Errorf("%s: got %s and %s, want %s and %s", tc.name, base, storage, tc.base, tc.storage)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	c := config.Config{Data: "d"}
	testenv.Equal(t, "database in the data folder", "d/orders.db", c.DatabaseLocation().File())
	c.Database = "sqlite:///var/lib/o.db"
	testenv.Equal(t, "database elsewhere", "/var/lib/o.db", c.DatabaseLocation().File())
}

func TestBucket(t *testing.T) {
	t.Parallel()
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	for storage, want := range map[string]struct {
		bucket config.Bucket
		ok     bool
		url    string
	}{
		"":                             {url: "http://127.0.0.1:4711/storage/local/merchant-orders"},
		"s3://_":                       {url: "http://127.0.0.1:4711/storage/local/merchant-orders"},
		"s3://files?endpoint=http://h": {bucket: config.Bucket{Name: "files", Region: "us-east-1", Endpoint: "http://h"}, ok: true, url: "http://127.0.0.1:4711/storage/us-east-1/files"},
		"s3://files?region=eu-central-1&endpoint=https://s3.example.com/": {
			bucket: config.Bucket{Name: "files", Region: "eu-central-1", Endpoint: "https://s3.example.com"}, ok: true,
			url: "http://127.0.0.1:4711/storage/eu-central-1/files",
		},
	} {
		c := config.Config{Storage: storage}
		bucket, ok := c.Bucket()
		if ok != want.ok || ok && bucket != want.bucket {
			t.Errorf("%q: got %+v, %v; want %+v, %v", storage, bucket, ok, want.bucket, want.ok)
		}
		if _, url := c.Addresses(config.LocalURL(local, false)); url != want.url {
			t.Errorf("%q: files are below %s, want %s", storage, url, want.url)
		}
	}
}

// TestConnections checks the default of the bound on connections, from the number of
// open files.
// Proves decision 5 (connections, slow clients).
func TestConnections(t *testing.T) {
	t.Parallel()
	for openFiles, want := range map[uint64]int{0: 16, 63: 16, 100: 18, 1024: 480, 65_536: 10_000, 1 << 63: 10_000} {
		testenv.Equal(t, fmt.Sprint("connections of ", openFiles), want, config.Serve{}.Connections(openFiles))
	}
	for text, want := range map[string]int{"16": 16, "1000000": 1_000_000} {
		s := goodServe()
		s.IdleTimeout, s.MaxConnections = "1h", text
		if err := s.Check(); err != nil || s.Connections(1024) != want || s.IdleTimeout.Value() != time.Hour {
			t.Errorf("%s: %d connections, error %v", text, s.Connections(1024), err)
		}
	}
}

// TestMailServer checks the settings of e-mails.
func TestMailServer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.MailServer{
		"smtp://mail.example.com":       {Host: "mail.example.com", Port: 587},
		"smtp://mail.example.com:2525/": {Host: "mail.example.com", Port: 2525},
		"smtps://mail.example.com":      {Host: "mail.example.com", Port: 465, TLS: true},
		"smtp://localhost:25":           {Host: "localhost", Port: 25, Local: true},
		"smtps://[::1]:465":             {Host: "::1", Port: 465, TLS: true, Local: true},
		"":                              {},
		"mail.example.com:25":           {},
		"http://mail.example.com":       {},
		"smtp://":                       {},
		"smtp://user:pw@mail":           {},
		"smtp://mail:0":                 {},
		"smtp://mail:65536":             {},
		"smtp://mail/a":                 {},
		"smtp://mail?tls=no":            {},
	} {
		s := goodServe()
		s.SMTP, s.SMTPFrom = text, "orders@example.com"
		got, ok := s.MailServer()
		if got != want || ok != (want.Port != 0) || (s.Check() == nil) != (ok || text == "") {
			t.Errorf("%q: %+v, %t, %v", text, got, ok, s.Check())
		}
	}
	for name, c := range map[string]struct {
		change func(*config.Serve)
		want   string
	}{
		"no sender":       {func(s *config.Serve) { s.SMTPFrom = "" }, "--smtp-from (MERCHANT_ORDERS_SMTP_FROM): must be an e-mail address, which --smtp needs"},
		"a named sender":  {func(s *config.Serve) { s.SMTPFrom = "Shop <orders@example.com>" }, "--smtp-from (MERCHANT_ORDERS_SMTP_FROM): must be an e-mail address, which --smtp needs"},
		"a bad name":      {func(s *config.Serve) { s.SMTPHello = "a b" }, "--smtp-hello (MERCHANT_ORDERS_SMTP_HELLO): must be a host name, or an IP address in brackets"},
		"only a user":     {func(s *config.Serve) { s.SMTPUser = "u" }, "--smtp-user (MERCHANT_ORDERS_SMTP_USER): needs --smtp-password, and that needs --smtp-user"},
		"only a password": {func(s *config.Serve) { s.SMTPPassword = "p" }, "--smtp-user (MERCHANT_ORDERS_SMTP_USER): needs --smtp-password, and that needs --smtp-user"},
	} {
		s := goodServe()
		s.SMTP, s.SMTPFrom = "smtp://mail.example.com", "orders@example.com"
		c.change(&s)
		if err := s.Check(); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := config.Serve{SMTP: "smtp://mail.example.com"}
	if err := s.CheckLinks(""); err == nil || s.CheckLinks("https://orders.example.com") != nil || (config.Serve{}).CheckLinks("") != nil {
		t.Errorf("without a base URL: %v", err)
	}
}
func TestOrigin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://Orders.Example.com/shop": "https://orders.example.com", "https://a.example:443": "https://a.example",
		"http://a.example:443/": "http://a.example:443", "http://[::1]:80": "http://[::1]", "": "",
	} {
		testenv.Equal(t, text, want, config.Origin(text))
	}
}

// TestMailHello names the service to the mail server.
func TestMailHello(t *testing.T) {
	t.Parallel()
	for baseURL, want := range map[string]string{
		"https://orders.example.com:8443/shop": "orders.example.com", "http://192.0.2.1:80": "[192.0.2.1]", "http://[2001:db8::1]": "[IPv6:2001:db8::1]", "": "",
	} {
		testenv.Equal(t, baseURL, want, config.Serve{}.MailHello(baseURL))
		testenv.Equal(t, baseURL, "mail.example.com", config.Serve{SMTPHello: "mail.example.com"}.MailHello(baseURL))
	}
}

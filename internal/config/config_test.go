package config_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/config"
)

// good returns settings that are all in order.
func good(t *testing.T) config.Config {
	t.Helper()
	return config.Config{Data: filepath.Join(t.TempDir(), "data"), ErrorCodes: config.Samples, LogLevel: "info"}
}

func TestValidateAcceptsDefaultsAndMakesNothing(t *testing.T) {
	t.Parallel()
	c := good(t)
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the data folder was touched: %v", err)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name   string
		change func(*config.Config)
		want   string // the fault; empty: none
	}{
		{"a folder deep below", func(c *config.Config) { c.Data += "/a/b" }, ""},
		{"a folder that is there", func(c *config.Config) { c.Data = filepath.Dir(file) }, ""},
		{"no folder", func(c *config.Config) { c.Data = "" }, "--data (MERCHANT_ORDERS_DATA): must name a folder"},
		{"a file for a folder", func(c *config.Config) { c.Data = file }, "--data (MERCHANT_ORDERS_DATA): must be a folder that this user may write to: " + file + " is a file"},
		{"a folder below a file", func(c *config.Config) { c.Data = file + "/data" }, "--data (MERCHANT_ORDERS_DATA): must be a folder that this user may write to: not a directory"},

		{"SQLite elsewhere", func(c *config.Config) { c.Database = "sqlite://" + filepath.Dir(file) + "/other.db" }, ""},
		{"SQLite without a file", func(c *config.Config) { c.Database = "sqlite://" }, "--database (MERCHANT_ORDERS_DATABASE): must name a file: sqlite://PATH, without ? and #"},
		{"SQLite with options", func(c *config.Config) { c.Database = "sqlite:///a.db?mode=ro" }, "--database (MERCHANT_ORDERS_DATABASE): must name a file: sqlite://PATH, without ? and #"},
		{"SQLite on a folder", func(c *config.Config) { c.Database = "sqlite://" + filepath.Dir(file) }, "--database (MERCHANT_ORDERS_DATABASE): must name a file, and " + filepath.Dir(file) + " is a folder"},
		{"SQLite below a file", func(c *config.Config) { c.Database = "sqlite://" + file + "/a.db" }, "--database (MERCHANT_ORDERS_DATABASE): must name a file in a folder that this user may write to"},
		{"another database", func(c *config.Config) { c.Database = "postgres://u:secret@db/orders" }, "--database (MERCHANT_ORDERS_DATABASE): must be empty or sqlite://PATH; other databases come with a later release"},
		{"another storage", func(c *config.Config) { c.Storage = "s3://bucket" }, "--storage (MERCHANT_ORDERS_STORAGE): must be empty; storages other than the data folder come with a later release"},

		{"an address", func(c *config.Config) { c.BaseURL = "https://orders.example.com" }, ""},
		{"an address with path and slash", func(c *config.Config) { c.BaseURL = "http://example.com:8443/shop/" }, ""},
		{"an IPv6 address", func(c *config.Config) { c.BaseURL = "http://[::1]:8080" }, ""},
		{"no scheme", func(c *config.Config) { c.BaseURL = "orders.example.com" }, "--base-url (MERCHANT_ORDERS_BASE_URL): must be an address such as https://orders.example.com"},
		{"another scheme", func(c *config.Config) { c.BaseURL = "ftp://example.com" }, "--base-url (MERCHANT_ORDERS_BASE_URL): must be an address such as https://orders.example.com"},
		{"no host", func(c *config.Config) { c.BaseURL = "http://:8080" }, "--base-url (MERCHANT_ORDERS_BASE_URL): must be an address such as https://orders.example.com"},
		{"a port too big", func(c *config.Config) { c.BaseURL = "http://a:70000" }, "--base-url (MERCHANT_ORDERS_BASE_URL): must have a port from 0 to 65535"},
		{"a query", func(c *config.Config) { c.BaseURL = "http://example.com?" }, "--base-url (MERCHANT_ORDERS_BASE_URL): must have no query (?) and no fragment (#)"},
		{"a fragment", func(c *config.Config) { c.StorageURL = "http://example.com/#x" }, "--storage-url (MERCHANT_ORDERS_STORAGE_URL): must have no query (?) and no fragment (#)"},
		{"a password", func(c *config.Config) { c.StorageURL = "https://u:p@example.com" }, "--storage-url (MERCHANT_ORDERS_STORAGE_URL): must have no user name or password"},
		{"a space", func(c *config.Config) { c.StorageURL = "https://example.com/a b" }, "--storage-url (MERCHANT_ORDERS_STORAGE_URL): must have no spaces and no letters beyond ASCII"},

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
			if err := c.Validate(); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestValidateFindsAllFaults(t *testing.T) {
	t.Parallel()
	c := config.Config{Database: "mysql://x", Storage: "x", BaseURL: "x", StorageURL: "x"}
	var flags []string
	for line := range strings.Lines(c.Validate().Error()) {
		flags = append(flags, strings.Fields(line)[0])
	}
	want := []string{"--data", "--database", "--storage", "--base-url", "--storage-url", "--error-codes", "--log-level"}
	if diff := cmp.Diff(want, flags); diff != "" {
		t.Errorf("flags with faults (-want +got):\n%s", diff)
	}
}

func TestFaultsNeverRepeatPasswords(t *testing.T) {
	t.Parallel()
	c := good(t)
	c.Database, c.BaseURL = "postgres://u:secret@db/orders", "https://u:secret@example.com"
	if text := c.Validate().Error(); strings.Contains(text, "secret") {
		t.Errorf("a password is shown: %s", text)
	}
}

func TestValidateListen(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:8080", ":0", "0.0.0.0:80", "[::]:8080", "[::1]:0", "localhost:65535"} {
		if err := (config.Serve{Listen: address}).Validate(); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"", "8080", "127.0.0.1", "127.0.0.1:", "::1:80", "host:http", "a:65536", "a:-1", "a:+1", "a:01", "a b:80"} {
		err := (config.Serve{Listen: address}).Validate()
		var fault *config.Fault
		if !errors.As(err, &fault) || fault.Flag != "listen" {
			t.Errorf("%q: got %v, want a fault of --listen", address, err)
		}
	}
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
		base, storage := tc.config.Addresses(tc.bound)
		if base != tc.base || storage != tc.storage {
			t.Errorf("%s: got %s and %s, want %s and %s", tc.name, base, storage, tc.base, tc.storage)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	c := config.Config{Data: "d"}
	if got := c.DatabasePath(); got != filepath.Join("d", "orders.db") {
		t.Errorf("database in the data folder: %s", got)
	}
	c.Database = "sqlite:///var/lib/o.db"
	if got := c.DatabasePath(); got != "/var/lib/o.db" {
		t.Errorf("database elsewhere: %s", got)
	}
}

func TestVariable(t *testing.T) {
	t.Parallel()
	if got := config.Variable("storage-url"); got != "MERCHANT_ORDERS_STORAGE_URL" {
		t.Error(got)
	}
}

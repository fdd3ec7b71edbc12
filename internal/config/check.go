package config

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// The checks return what is wrong with a setting; empty text if it is valid.

const (
	accessWrite = 0x2 // of access(2)
	accessEnter = 0x1
	badFolder   = "must be a folder that this user may write to"
)

// checkFolder checks that a folder is writable, or can be created. It does not
// create it.
func checkFolder(dir string) string {
	if dir == "" {
		return "must be the name of a folder"
	}
	at, err := Existing(dir)
	if err != nil {
		return badFolder
	}
	info, err := os.Stat(at)
	switch pathErr, failed := errors.AsType[*fs.PathError](err); {
	case failed:
		return badFolder + ": " + pathErr.Err.Error() // without the operation and the path
	case !info.IsDir():
		return badFolder + ": " + at + " is a file"
	case syscall.Access(at, accessWrite|accessEnter) != nil:
		return badFolder + ": " + at + " is not"
	}
	return ""
}

// Existing returns the full path of a file or folder, or of the next folder above it
// that exists. It fails only for a relative path without a working directory.
func Existing(path string) (string, error) {
	at, err := filepath.Abs(path)
	for err == nil && at != filepath.Dir(at) {
		if _, statErr := os.Stat(at); !errors.Is(statErr, fs.ErrNotExist) {
			break
		}
		at = filepath.Dir(at)
	}
	return at, err
}

func checkDatabase(c Config) string {
	if c.Database == "" {
		return ""
	}
	if at := c.DatabaseLocation(); at.Kind == Postgres {
		return checkPostgres(at.Address)
	}
	path, ok := strings.CutPrefix(c.Database, sqliteScheme)
	if !ok {
		// Do not repeat the value: it may contain a password.
		return "must be empty, sqlite://PATH or postgres://user:password@host/database"
	}
	if path == "" || strings.ContainsAny(path, "?#\x00") {
		return "must be the name of a file: sqlite://PATH, without ? and #"
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "must be the name of a file; " + path + " is a folder"
	}
	if problem := checkFolder(filepath.Dir(path)); problem != "" {
		return "must be the name of a file in a folder that this user may write to"
	}
	return ""
}

// CheckURL checks a URL to which paths are appended. It returns what is wrong.
func CheckURL(text string) string {
	if text == "" {
		return ""
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "must not contain spaces or characters other than ASCII"
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "must be a URL such as https://orders.example.com"
	case u.Port() != "" && !validPort(u.Port()):
		return "must have a port from 0 to 65535"
	case u.User != nil:
		return "must not contain a user name or password"
	case strings.ContainsAny(text, "?#"):
		return "must not contain a query (?) or a fragment (#)"
	}
	return ""
}

// trimURL removes slashes at the end of a URL.
func trimURL(text string) string { return strings.TrimRight(text, "/") }

// Origin returns the origin of a URL as browsers send it (RFC 6454, 6.1): in small letters,
// without the usual port of the scheme.
func Origin(text string) string {
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || u.Host == "" {
		return ""
	}
	if usual := map[string]string{"http": "80", "https": "443"}[u.Scheme]; u.Port() == usual {
		u.Host = strings.TrimSuffix(u.Host, ":"+usual)
	}
	return u.Scheme + "://" + u.Host
}

// CheckListen checks a listening address. It returns what is wrong.
func CheckListen(text string) string {
	host, port, err := net.SplitHostPort(text)
	if err != nil || !validPort(port) || strings.ContainsAny(host, " /\t\n") {
		return "must be host:port with a port from 0 to 65535, such as 127.0.0.1:8080 or [::]:8080"
	}
	return ""
}

// MaxRateLimit is the maximum of RateLimit.
const MaxRateLimit = 10_000

// parseNumber parses a whole number in plain digits. It also returns what is wrong.
func parseNumber(text string, minimum, maximum int) (int, string) {
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || n < minimum || n > maximum {
		return 0, "must be a whole number from " + strconv.Itoa(minimum) + " to " + strconv.Itoa(maximum)
	}
	return n, ""
}

// validPort reports whether text is a port number, in digits without leading zeros.
func validPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && strconv.FormatUint(port, 10) == text
}

// oneOf checks that text is one of the allowed words.
func oneOf(text string, allowed ...string) string {
	if slices.Contains(allowed, text) {
		return ""
	}
	return "must be " + strings.Join(allowed[:len(allowed)-1], ", ") + " or " + allowed[len(allowed)-1]
}

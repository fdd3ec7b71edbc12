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
	at, err := filepath.Abs(dir)
	if err != nil {
		return badFolder
	}
	for {
		info, err := os.Stat(at)
		if errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at) {
			at = filepath.Dir(at)
			continue
		}
		switch {
		case err != nil:
			return badFolder + ": " + reason(err)
		case !info.IsDir():
			return badFolder + ": " + at + " is a file"
		case syscall.Access(at, accessWrite|accessEnter) != nil:
			return badFolder + ": " + at + " is not"
		}
		return ""
	}
}

// reason returns the text of an error without the operation and the path.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

func checkDatabase(c Config) string {
	if c.Database == "" {
		return ""
	}
	if address, ok := c.PostgresURL(); ok {
		return checkPostgres(address)
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

func checkStorage(text string) string {
	if text == "" {
		return ""
	}
	_, problem := parseBucket(text)
	return problem
}

// checkURL checks a URL to which paths are appended.
func checkURL(text string) string {
	if text == "" {
		return ""
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return "must not contain spaces or characters other than ASCII"
		}
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

func checkListen(text string) string {
	host, port, err := net.SplitHostPort(text)
	if err != nil || !validPort(port) || strings.ContainsAny(host, " /\t\n") {
		return "must be host:port with a port from 0 to 65535, such as 127.0.0.1:8080 or [::]:8080"
	}
	return ""
}

// MaxRateLimit is the maximum of RateLimit.
const MaxRateLimit = 10_000

func checkRate(text string) string {
	if _, ok := parseRate(text); !ok {
		return "must be a whole number from 0 to " + strconv.Itoa(MaxRateLimit)
	}
	return ""
}

// parseRate parses a number of requests.
func parseRate(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && strconv.Itoa(n) == text && n >= 0 && n <= MaxRateLimit
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

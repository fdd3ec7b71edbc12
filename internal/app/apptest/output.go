package apptest

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// readyTimeout is how long a server may take until it listens. Only a test
// that fails waits that long.
const readyTimeout = 3 * time.Minute

// output collects the output of a server.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{} // receives a value after each write, if it is empty
}

func newOutput() *output { return &output{written: make(chan struct{}, 1)} }

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.written <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

// String returns the output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// admins has the URLs of admin listeners by those of the main ones, of the servers that
// tests have started.
var admins sync.Map

// Address returns the URL of a path at the server with a base URL, on the port that serves
// it.
func Address(baseURL, path string) string {
	for _, prefix := range []string{"/operator", "/metrics", "/console/operator"} {
		if admin, ok := admins.Load(baseURL); ok && strings.HasPrefix(path, prefix) {
			return admin.(string) + path
		}
	}
	return baseURL + path
}

// adminOn matches the line with the address of the admin listener, which comes before that
// of the main one.
var adminOn = regexp.MustCompile(`(?m)^The admin listener is (\S+)$`)

var listensOn = regexp.MustCompile(`(?m)^Merchant Orders listens on (\S+)$`)

// address waits until a server has written its address, and returns that. ended
// is closed when the server has ended.
func (o *output) address(t testing.TB, ended <-chan struct{}, log *output) string {
	t.Helper()
	timeout := time.After(readyTimeout)
	for {
		if found := listensOn.FindStringSubmatch(o.String()); found != nil {
			if admin := adminOn.FindStringSubmatch(o.String()); admin != nil {
				admins.Store(found[1], admin[1])
			}
			return found[1]
		}
		select {
		case <-o.written:
		case <-ended:
			t.Fatalf("the server ended before it listened:\n%s%s", o, log)
		case <-timeout:
			t.Fatalf("the server does not listen after %v:\n%s%s", readyTimeout, o, log)
		}
	}
}

// maxShownLog is how much of a log a failed test shows, in bytes.
const maxShownLog = 8 << 10

// showAfterFailure logs the end of a server's log if the test fails.
func showAfterFailure(t testing.TB, log *output) {
	t.Cleanup(func() {
		if text := log.String(); t.Failed() && text != "" {
			t.Logf("log of the server:\n%s", text[max(0, len(text)-maxShownLog):])
		}
	})
}

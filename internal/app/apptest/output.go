package apptest

import (
	"bytes"
	"regexp"
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

var listensOn = regexp.MustCompile(`(?m)^Merchant Orders listens on (\S+)$`)

// address waits until a server has written its address, and returns that. ended
// is closed when the server has ended.
func (o *output) address(t testing.TB, ended <-chan struct{}, log *output) string {
	t.Helper()
	timeout := time.After(readyTimeout)
	for {
		if found := listensOn.FindStringSubmatch(o.String()); found != nil {
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

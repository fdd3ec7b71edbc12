package server

import (
	"net"
	"net/http"
)

// maxBlank is how many bytes of line breaks before a request are ignored.
const maxBlank = 4

// blankLines is what a connection knows of line breaks that belong to no request. Some clients
// send one after a body, and a server should ignore it (RFC 9112, 2.2); net/http does so after
// POST only. It reads in blocks, so the break that a block ends with is held back until the rest
// of a request is asked for.
//
// Only the goroutine that reads from the connection uses it. With TLS it has no effect: the
// bytes are encrypted.
type blankLines struct {
	watched bool   // a connection without TLS
	body    bool   // the header of a request is read, and the request not ended
	between bool   // nothing of the next request was read
	ignored int    // bytes of line breaks since the last request
	held    []byte // line break at the end of what was read
}

// watchRequests is the ConnState of a server that listens on connections.
func watchRequests(conn net.Conn, state http.ConnState) {
	plain, ok := conn.(*connection)
	if !ok {
		return
	}
	blank := &plain.blank
	switch state {
	case http.StateNew:
		blank.watched = true
	case http.StateActive:
		blank.body, blank.between, blank.ignored = true, true, 0
	case http.StateIdle:
		blank.body = false
	}
}

// Read implements net.Conn.
func (c *connection) Read(p []byte) (int, error) {
	blank := &c.blank
	if !blank.watched || len(p) == 0 {
		return c.Conn.Read(p)
	}
	// While it handles a request, net/http reads bytes of the next one by one.
	between := blank.between && (!blank.body || len(p) == 1)
	if between {
		blank.held = nil
	}
	if len(blank.held) > 0 {
		n := copy(p, blank.held)
		blank.held = blank.held[n:]
		return n, nil
	}
	for {
		n, err := c.Conn.Read(p)
		if between {
			skipped := 0
			for skipped < n && blank.ignored < maxBlank && isLineBreak(p[skipped]) {
				skipped++
				blank.ignored++
			}
			if skipped > 0 && skipped == n && err == nil {
				continue
			}
			n = copy(p, p[skipped:n])
			blank.between = n == 0
		}
		return n - blank.hold(p[:n]), err
	}
}

// hold holds back one line break at the end of what was read after something else, and returns
// how many bytes it has.
func (b *blankLines) hold(read []byte) int {
	start := len(read)
	if start > 0 && isLineBreak(read[start-1]) {
		start--
	}
	if start > 0 && start < len(read) && read[start] == '\n' && read[start-1] == '\r' {
		start--
	}
	if start == 0 {
		return 0
	}
	b.held = append(b.held[:0], read[start:]...)
	return len(b.held)
}

func isLineBreak(b byte) bool { return b == '\r' || b == '\n' }

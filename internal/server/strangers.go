package server

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// strangerTime is how long a stranger's request is left alone, while there are few of
// them: a token is found sooner.
const strangerTime = time.Second

// running is a request in progress.
type running struct {
	conn    *connection
	client  netip.Addr // network of the client; zero: not known
	began   time.Time
	http1   bool // the connection has no other request
	control *http.ResponseController
	cancel  context.CancelFunc

	known      bool  // who sends it; guarded by connections.mu
	merchantID int64 // if that is known; 0: an operator

	mu    sync.Mutex
	ended bool
}

// strangers are the requests in progress of which nobody knows who sends them: they have
// no token, or it was not read yet. By network of the client, the oldest first.
type strangers map[netip.Addr][]*running

func (s strangers) add(r *running) { s[r.client] = append(s[r.client], r) }

// remove removes a request, if it is there.
func (s strangers) remove(r *running) {
	ofClient := s[r.client]
	i := slices.Index(ofClient, r)
	switch {
	case i >= 0 && len(ofClient) == 1:
		delete(s, r.client)
	case i >= 0:
		s[r.client] = slices.Delete(ofClient, i, i+1)
	}
}

// oldest returns the oldest request of the client that has most. nil: there are no more
// than a few, and that one is not older than strangerTime.
func (s strangers) oldest(few int) *running {
	var most []*running
	all := 0
	for _, ofClient := range s {
		if all += len(ofClient); len(ofClient) > len(most) {
			most = ofClient
		}
	}
	if len(most) == 0 || all <= few && time.Since(most[0].began) < strangerTime {
		return nil
	}
	return most[0]
}

// cut ends a request without a response: its handler gets an error when it reads, writes or
// waits. net/http alone does not notice a closed connection before the body is read.
func (r *running) cut() {
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	past := time.Unix(1, 0)
	switch {
	case r.ended: // the connection may have another request, and the controller must not be used
	case r.http1:
		_ = r.conn.Close() // its error adds nothing
	default:
		_, _ = r.control.SetReadDeadline(past), r.control.SetWriteDeadline(past)
	}
}

// end waits for cut.
func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

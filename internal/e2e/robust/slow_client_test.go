package robust

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// connect opens a connection to a server. What is read from it or written to it
// must come to an end within testenv.WaitTimeout.
func (c client) connect(t testing.TB) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(c.Base, "http://"))
	if err == nil {
		err = connection.SetDeadline(time.Now().Add(testenv.WaitTimeout))
	}
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

// pace is how often a slow client sends one byte more.
const pace = 200 * time.Millisecond

// trickle sends text one byte at a time, over and over, until the server is
// tired of it, and returns the response. ok is false when the server has
// borne it for as long as testenv.WaitTimeout.
func trickle(connection net.Conn, text string) (got string, ok bool) {
	ended := make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			select {
			case <-time.After(pace):
			case <-ended:
				return
			}
			if _, err := connection.Write([]byte{text[i%len(text)]}); err != nil {
				return
			}
		}
	}()
	body, err := io.ReadAll(connection)
	close(ended)
	var timeout net.Error
	return string(body), !errors.As(err, &timeout) || !timeout.Timeout()
}

// TestSlowHeadersAreDropped has 200 clients that send a header one byte at a
// time and never end it, while others want to work.
//
// It guards the limit of 5 seconds for a header, which no single byte may
// extend: without it all 200 stay.
// Proves decision 5 (connections, slow clients).
func TestSlowHeadersAreDropped(t *testing.T) {
	t.Parallel()
	const clients = 200
	s := start(t)
	s.Import(t, registered(1, 20))
	var slow sync.WaitGroup
	for range clients {
		connection := s.connect(t)
		if _, err := io.WriteString(connection, "GET /v2/orders HTTP/1.1\r\nHost: localhost\r\nX-Slow: "); err != nil {
			t.Fatal(err)
		}
		slow.Go(func() {
			if response, ok := trickle(connection, "slowly "); !ok || strings.HasPrefix(response, "HTTP/1.1 200") {
				t.Errorf("a slow client is borne: %q", response)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		slow.Wait()
	}()
	for {
		if got := s.List(t, "").Params.TotalItems; got != 20 {
			t.Fatalf("%d orders, want 20", got)
		}
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestSlowBodiesAreCut has clients that send the body of an action one byte at
// a time, with and without its length, so that it would take an hour.
//
// It guards the limit of 10 seconds for the bodies of actions, and that what
// came of a body that was cut is not taken for the whole.
// Proves decision 5 (size and time of bodies).
func TestSlowBodiesAreCut(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Import(t, registered(1, 2))
	bodies := []struct{ header, begin, more string }{
		// Nothing but blanks is missing.
		{"Content-Length: 20000", `{"status":"G"}`, " "},
		{"Transfer-Encoding: chunked", "10\r\n" + `{"status":"G"}  ` + "\r\n", "1\r\n \r\n"},
	}
	var all sync.WaitGroup
	for i, body := range bodies {
		n := sample(1 + i)
		connection := s.connect(t)
		head := "PUT " + n.V1() + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + s.client.Token + "\r\n" + body.header + "\r\n\r\n"
		if _, err := io.WriteString(connection, head+body.begin); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			response, ok := trickle(connection, body.more)
			if !ok {
				t.Errorf("%s: the server still waits for the body", body.header)
			}
			if response != "" && !strings.HasPrefix(response, "HTTP/1.1 400") {
				t.Errorf("%s: response %q", body.header, response)
			}
			if got := s.shown(t, n).State; got != order.Registered.String() {
				t.Errorf("%s: half a body made the order %s", body.header, got)
			}
		})
	}
	all.Wait()
}

// TestGoneInTheMiddle has clients that go away in the middle of an upload, of which
// nothing stays. See e2e.TestBrokenOffBody for the bodies that look whole.
func TestGoneInTheMiddle(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Import(t, registered(1, 2))
	for n := sample(1); n <= 2; n++ {
		held := s.hold(t, n.Path(int(n)), "half.pdf", make([]byte, 400_000))
		testenv.Eventually(t, "the upload is under way", func() bool { return len(stagedFiles(t, s.Data)) > 0 })
		held.cut()
		testenv.Eventually(t, "nothing is left of it", func() bool { return len(stagedFiles(t, s.Data)) == 0 })
		s.nothingStored(t, n)
	}
	if got := s.Ask(t, http.MethodGet, "/readyz", ""); got.Status != http.StatusOK {
		t.Errorf("/readyz: %d %s", got.Status, got.Body)
	}
}

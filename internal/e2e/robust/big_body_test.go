package robust

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

const (
	fileTooBig = "The file size is too big."

	hugeBody = 400_000_000 // bytes that a client wants to send
	// maxTaken is how much of it may go out before the connection is closed:
	// the 11 MiB that are looked at, the 16 MiB that are dropped, and what the
	// buffers of the sockets hold, which grow on a slow machine.
	maxTaken = 200_000_000
	// flatMemory is what a server may hold at most, in MB, while such bodies
	// come in. Idle it holds about 20.
	flatMemory = 64
)

// TestHugeBodiesAreRefusedEarly has clients send bodies of 400 MB, with and
// without their length, while they read.
//
// It guards that such a body is refused before it has come, and that memory
// does not grow with it. Reading bodies whole, or not bounding what is dropped,
// makes it fail.
// Proves decision 6 (size of the body).
func TestHugeBodiesAreRefusedEarly(t *testing.T) {
	t.Parallel()
	const clients = 4 // of each kind
	s := start(t)
	s.Import(t, registered(1, 1))
	n := sample(1)
	kinds := []struct{ request, message string }{
		{"POST " + n.V1() + "/invoices", fileTooBig},
		{"POST " + n.V2() + "/invoices", fileTooBig},
		{"PUT " + n.V1(), "Invalid payload."},
		{"PATCH " + n.V2() + "/reject", "Invalid payload."},
	}
	var all sync.WaitGroup
	for _, kind := range kinds {
		for i := range clients {
			body := fixedBody
			if i%2 == 1 {
				body = chunkedBody
			}
			connection := s.connect(t)
			all.Go(func() { s.sendHuge(t, connection, kind.request, kind.message, body) })
		}
	}
	all.Wait()
	peak := s.Memory(t, "VmHWM")
	t.Logf("the server has held %d MB", peak)
	if peak > flatMemory {
		t.Errorf("the server has held %d MB, want %d at most", peak, flatMemory)
	}
	testenv.Equal(t, "the order's state", "registered", s.shown(t, n).State)
	s.nothingStored(t, n)
}

// bodyForm is a way to send a body.
type bodyForm struct {
	header string
	begin  string // sent first: an upload as good as any, but for its length
	piece  string // sent again and again
}

const objectBegin = `{"filename":"huge.pdf","contentBase64":"`

var (
	letters   = strings.Repeat("A", 64<<10)
	fixedBody = bodyForm{
		header: fmt.Sprintf("Content-Length: %d", hugeBody),
		begin:  objectBegin, piece: letters,
	}
	chunkedBody = bodyForm{
		header: "Transfer-Encoding: chunked",
		begin:  chunk(objectBegin), piece: chunk(letters),
	}
)

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// sendHuge sends a body until the server closes the connection and checks the
// response, which is read meanwhile.
func (r running) sendHuge(t *testing.T, connection net.Conn, request, message string, form bodyForm) {
	var sent atomic.Int64
	go func() {
		head := request + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + r.client.Token + "\r\n" + form.header + "\r\n\r\n"
		_, err := io.WriteString(connection, head+form.begin)
		for err == nil && sent.Load() < hugeBody-int64(len(letters)) {
			_, err = io.WriteString(connection, form.piece)
			sent.Add(int64(len(letters)))
		}
	}()
	reader := bufio.NewReader(connection)
	raw, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Errorf("%s, %s: no response: %v", request, form.header, err)
		return
	}
	defer func() { _ = raw.Body.Close() }()
	body, err := io.ReadAll(raw.Body)
	if got := (response{Status: raw.StatusCode, Body: string(body)}); err != nil || got.Status != http.StatusBadRequest || apptest.Message(got) != message {
		t.Errorf("%s, %s: %d %s %v, want 400 %s", request, form.header, got.Status, got.Body, err, message)
	}
	// The connection ends here, one way or the other.
	_, _ = io.Copy(io.Discard, reader)
	if n := sent.Load(); n > maxTaken {
		t.Errorf("%s, %s: %d bytes of the body went out, want %d at most", request, form.header, n, maxTaken)
	}
}

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

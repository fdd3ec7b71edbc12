package instances

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"merchantorders/internal/testenv"
)

// wire is a network between the service and a server that can be disturbed.
type wire struct {
	listener net.Listener

	mu     sync.Mutex
	target string // empty: new lines are refused
	lines  map[*line]bool
	deaf   bool // new lines are deaf
	// choose, where it is not nil, says after how many bytes to the server, and
	// from it, a new line is cut.
	choose func() (up, down int64)
}

// newWire lays a wire to a server, host:port.
func newWire(t testing.TB, target string) *wire {
	t.Helper()
	listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	w := &wire{listener: listener, target: target, lines: make(map[*line]bool)}
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			ended.Go(func() { w.carry(near.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.mu.Lock()
		for l := range w.lines {
			l.close()
		}
		w.mu.Unlock()
		ended.Wait()
	})
	return w
}

// address is where the service finds the server, host:port.
func (w *wire) address() string { return w.listener.Addr().String() }

// deafen lets all open lines lose every byte from now on and stay open, as after a
// failover that closes no connection. New lines work.
func (w *wire) deafen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.lines {
		l.deaf.Store(true)
	}
}

// hang is deafen for new lines as well, until heal.
func (w *wire) hang() {
	w.mu.Lock()
	w.deaf = true
	w.mu.Unlock()
	w.deafen()
}

// cutBy has every new line cut, with a reset, where choose says, until heal: after so many
// bytes to the server, or from it. It is asked by one line at a time.
func (w *wire) cutBy(choose func() (up, down int64)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.choose = choose
}

// move ends all lines with a reset and lays new ones to another server, or refuses
// them if target is empty.
func (w *wire) move(target string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target = target
	for l := range w.lines {
		_ = l.near.SetLinger(0)
		_ = l.far.SetLinger(0)
		l.close()
	}
}

// heal lets new lines work again.
func (w *wire) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deaf, w.choose = false, nil
}

// carry lays one line and carries what goes over it until it ends.
func (w *wire) carry(near *net.TCPConn) {
	w.mu.Lock()
	target := w.target
	w.mu.Unlock()
	far, err := net.Dial("tcp", target)
	if err != nil {
		// As the server would: with a reset.
		_ = near.SetLinger(0)
		_ = near.Close()
		return
	}
	l := &line{near: near, far: far.(*net.TCPConn)}
	w.mu.Lock()
	if w.target != target {
		w.mu.Unlock()
		_ = near.SetLinger(0)
		l.close()
		return
	}
	up, down := int64(never), int64(never)
	if w.choose != nil {
		up, down = w.choose()
	}
	l.deaf.Store(w.deaf)
	w.lines[l] = true
	w.mu.Unlock()
	var pumps sync.WaitGroup
	pumps.Go(func() { l.pump(l.far, l.near, up) })
	pumps.Go(func() { l.pump(l.near, l.far, down) })
	pumps.Wait()
	w.mu.Lock()
	delete(w.lines, l)
	w.mu.Unlock()
}

// line is one connection through a wire.
type line struct {
	near, far *net.TCPConn // to the service, to the server
	deaf      atomic.Bool
}

// never is more than any line carries.
const never = 1 << 60

func (l *line) close() {
	_ = l.near.Close()
	_ = l.far.Close()
}

// pump carries bytes in one direction, up to limit of them, and then ends the
// line.
func (l *line) pump(to io.Writer, from io.Reader, limit int64) {
	defer l.close()
	buffer := make([]byte, 16<<10)
	for carried := int64(0); ; {
		n, err := from.Read(buffer)
		if carried += int64(n); carried > limit {
			_ = l.near.SetLinger(0)
			_ = l.far.SetLinger(0)
			return
		}
		if n > 0 && !l.deaf.Load() {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

package app

import (
	"io"
	"sync"
	"time"
)

const (
	// logPause is how long the lines of the log wait for each other at most: a
	// write for each line is a tenth of the cost of a small answer.
	logPause = time.Millisecond
	// mostLogged is how many bytes may wait. A reader of the log that does not
	// keep up slows the service down then, but no line is lost.
	mostLogged = 1 << 20
)

// logWriter writes to a log what several have written at about the same time.
type logWriter struct {
	out io.Writer

	mu      sync.Mutex
	waiting []byte
	room    *sync.Cond // there is room again
	ended   bool

	wake chan struct{}
	done chan struct{}
}

func newLogWriter(out io.Writer) *logWriter {
	w := &logWriter{out: out, wake: make(chan struct{}, 1), done: make(chan struct{})}
	w.room = sync.NewCond(&w.mu)
	go w.keepWriting()
	return w
}

// Write implements io.Writer. What the log itself does with it is not known
// here; there is nowhere to complain.
func (w *logWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.waiting) > mostLogged && !w.ended {
		w.room.Wait()
	}
	if w.ended {
		return w.out.Write(line)
	}
	if len(w.waiting) == 0 {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
	w.waiting = append(w.waiting, line...)
	return len(line), nil
}

// keepWriting writes the first line at once, and those that come in the pause
// after it together.
func (w *logWriter) keepWriting() {
	defer close(w.done)
	var lines []byte
	for range w.wake {
		w.mu.Lock()
		lines, w.waiting = w.waiting, lines[:0]
		w.room.Broadcast()
		w.mu.Unlock()
		_, _ = w.out.Write(lines)
		time.Sleep(logPause)
	}
}

// close writes what is left. What is written afterwards goes straight through.
func (w *logWriter) close() {
	w.mu.Lock()
	w.ended = true
	close(w.wake)
	w.room.Broadcast()
	w.mu.Unlock()
	<-w.done
	_, _ = w.out.Write(w.waiting)
}

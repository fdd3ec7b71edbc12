package app

import (
	"io"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// logQueue is how many lines wait for a reader of the log that does not read.
	logQueue = 4096
	// logPatience is how long a line waits for its reader, and the end of the server for all.
	logPatience = time.Second
)

// logWriter writes the lines of a log. A line is written when Write returns, so that a crash
// loses none, as long as somebody reads the log. A reader that stops holds nobody up: after
// logPatience lines wait in a queue, and those that do not fit are dropped, counted, and
// told of once the reader goes on.
type logWriter struct {
	out     io.Writer
	queue   chan logLine
	stuck   atomic.Bool // nobody waits for lines to be written
	dropped atomic.Uint64
	told    uint64                                    // of dropped; of the goroutine
	tell    atomic.Pointer[func(dropped, all uint64)] // called when lines can be written again
	after   func(time.Duration) <-chan time.Time
}

// logLine is a line to be written, or the end of the queue if it has no text.
type logLine struct {
	text []byte
	done chan struct{} // closed when it is written
}

// newLogWriter returns a writer whose goroutine runs until Close.
func newLogWriter(out io.Writer) *logWriter {
	w := &logWriter{out: out, queue: make(chan logLine, logQueue), after: time.After}
	go w.run()
	return w
}

// tellOf sets the log that tells of dropped lines.
func (w *logWriter) tellOf(log *slog.Logger) {
	tell := func(dropped, all uint64) {
		log.Warn("lines of the log were dropped, because nobody read them", "lines", dropped, "since_start", all)
	}
	w.tell.Store(&tell)
}

// Write implements io.Writer for one line. It never fails.
func (w *logWriter) Write(line []byte) (int, error) {
	w.put(logLine{append([]byte(nil), line...), make(chan struct{})})
	return len(line), nil
}

func (w *logWriter) put(line logLine) {
	select {
	case w.queue <- line:
	default:
		w.dropped.Add(1)
		return
	}
	if w.stuck.Load() {
		return
	}
	select {
	case <-line.done:
	case <-w.after(logPatience):
		w.stuck.Store(true)
	}
}

// run writes lines in their order.
func (w *logWriter) run() {
	for line := range w.queue {
		if line.text == nil {
			close(line.done)
			return
		}
		_, err := w.out.Write(line.text)
		if err != nil {
			w.dropped.Add(1) // the reader has gone
		}
		if len(w.queue) == 0 {
			w.stuck.Store(false)
		}
		close(line.done)
		if all, tell := w.dropped.Load(), w.tell.Load(); err == nil && all > w.told && len(w.queue) == 0 && tell != nil {
			dropped := all - w.told
			w.told = all
			go (*tell)(dropped, all) // it writes a line itself
		}
	}
}

// Close waits until the lines are written, but not for a reader that has stopped.
func (w *logWriter) Close() { w.put(logLine{nil, make(chan struct{})}) }

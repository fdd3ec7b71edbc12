package app

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// slowLog lets the test say when a write goes through.
type slowLog struct {
	mu    sync.Mutex
	text  strings.Builder
	pass  chan struct{}
	calls int
}

func (l *slowLog) Write(p []byte) (int, error) {
	<-l.pass
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	return l.text.Write(p)
}

// TestLogWriter writes from many sides: no line is lost or broken, each side's
// come in their order, and lines share writes.
func TestLogWriter(t *testing.T) {
	t.Parallel()
	log := &slowLog{pass: make(chan struct{})}
	writer := newLogWriter(log)
	const sides, lines = 8, 500
	var writing sync.WaitGroup
	for side := range sides {
		writing.Go(func() {
			for line := range lines {
				_, _ = fmt.Fprintf(writer, "%d %d\n", side, line)
			}
		})
	}
	writing.Wait()
	close(log.pass)
	writer.close()
	if _, err := fmt.Fprintln(writer, "afterwards"); err != nil {
		t.Fatal(err)
	}
	next := make(map[int]int)
	for text := range strings.Lines(strings.TrimSuffix(log.text.String(), "afterwards\n")) {
		var side, line int
		if _, err := fmt.Sscanf(text, "%d %d\n", &side, &line); err != nil || line != next[side] {
			t.Fatalf("%q, error %v, want line %d", text, err, next[side])
		}
		next[side]++
	}
	for side := range sides {
		if next[side] != lines {
			t.Errorf("%d lines of side %d, want %d", next[side], side, lines)
		}
	}
	if log.calls > 10 {
		t.Errorf("%d writes", log.calls)
	}
}

// TestLogWriterWaits fills a log that nobody reads: what comes then waits, and
// gets through.
func TestLogWriterWaits(t *testing.T) {
	t.Parallel()
	log := &slowLog{pass: make(chan struct{})}
	writer := newLogWriter(log)
	const lines = 40
	line := strings.Repeat("x", mostLogged/16) + "\n"
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range lines {
			_, _ = writer.Write([]byte(line))
		}
	}()
	for range lines {
		select {
		case log.pass <- struct{}{}:
		case <-written:
		}
	}
	<-written
	close(log.pass)
	writer.close()
	if got := log.text.Len(); got != lines*len(line) {
		t.Errorf("%d bytes came through, want %d", got, lines*len(line))
	}
}

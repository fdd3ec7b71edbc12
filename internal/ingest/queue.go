package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"

	"merchantorders/internal/order"
)

// readAhead is the maximum number of blocks in a queue. It keeps the parsers
// busy while a batch is imported.
const readAhead = 8

// queue carries blocks of lines from the reader through the parsers to the
// importer. The reader sends each block to both channels. The importer receives
// them in the order of the input and waits until each is parsed.
type queue struct {
	ordered  chan *block
	unparsed chan *block
	free     chan *block // for reuse
	err      error       // of the reader; valid once ordered is closed
}

func newQueue() *queue {
	return &queue{
		ordered:  make(chan *block, readAhead),
		unparsed: make(chan *block, readAhead),
		free:     make(chan *block, readAhead),
	}
}

// fill reads blocks until the input or ctx ends.
func (q *queue) fill(ctx context.Context, lines *lineReader) {
	defer close(q.ordered)
	defer close(q.unparsed)
	for {
		next, err := lines.next(q.fresh)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			q.err = err
			return
		}
		select {
		case q.ordered <- next:
		case <-ctx.Done():
			return
		}
		select {
		case q.unparsed <- next:
		case <-ctx.Done():
			return
		}
	}
}

// parse parses blocks until the input or ctx ends.
func (q *queue) parse(ctx context.Context) {
	for {
		select {
		case next := <-q.unparsed:
			if next == nil {
				return
			}
			next.parse()
			next.parsed <- struct{}{}
		case <-ctx.Done():
			return
		}
	}
}

// fresh returns an empty block.
func (q *queue) fresh() *block {
	select {
	case b := <-q.free:
		return b
	default:
		return &block{data: make([]byte, 0, blockSize), parsed: make(chan struct{}, 1)}
	}
}

// recycle makes a block available to fresh.
func (q *queue) recycle(b *block) {
	// Drop blocks that have grown, to bound the memory.
	if cap(b.data) > blockSize || cap(b.lines) > blockSize/64 {
		return
	}
	clear(b.lines)
	*b = block{data: b.data[:0], lines: b.lines[:0], parsed: b.parsed}
	select {
	case q.free <- b:
	default:
	}
}

// block is a sequence of whole lines, or one line that is too long.
type block struct {
	first   int    // number of the first line
	data    []byte // the lines with their line ends
	tooLong bool   // one line that is too long; data is empty
	end     int64  // bytes of the input up to the end of the block

	lines  []parsedLine  // without blank lines
	parsed chan struct{} // receives one element when lines is complete
}

// parsedLine is a line as an order or a problem.
type parsedLine struct {
	number   int
	incoming *order.Incoming // nil: invalid
	problem  string
}

// parse parses the lines of the block.
func (b *block) parse() {
	if b.tooLong {
		b.lines = append(b.lines, parsedLine{number: b.first, problem: lineTooLong})
		return
	}
	rest := b.data
	for number := b.first; len(rest) > 0; number++ {
		var text []byte
		text, rest, _ = bytes.Cut(rest, []byte{'\n'})
		text = bytes.TrimSuffix(text, []byte{'\r'})
		if len(text) > MaxLineLength {
			b.lines = append(b.lines, parsedLine{number: number, problem: lineTooLong})
			continue
		}
		if len(bytes.Trim(text, " \t\r")) == 0 {
			continue
		}
		line := parsedLine{number: number}
		if in, err := Parse(text); err != nil {
			line.problem = err.Error()
		} else {
			line.incoming = &in
		}
		b.lines = append(b.lines, line)
	}
}

// lineTooLong is the problem of a line longer than MaxLineLength.
const lineTooLong = "the line is longer than 4 MiB"

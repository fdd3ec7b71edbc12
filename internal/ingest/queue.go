package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"

	"merchantorders/internal/order"
)

// readAhead is how many blocks are on their way at most. With blockSize it
// leaves the parsers enough to do while a batch is being added.
const readAhead = 8

// queue carries blocks of lines from the reader through the parsers to the
// writer. The reader puts each block into both channels; the writer takes them
// in the order of the input and waits until a parser is done with each.
type queue struct {
	ordered chan *block
	unread  chan *block
	free    chan *block // for use again
	err     error       // of the reader; may be looked at once ordered is closed
}

func newQueue() *queue {
	return &queue{
		ordered: make(chan *block, readAhead),
		unread:  make(chan *block, readAhead),
		free:    make(chan *block, readAhead),
	}
}

// fill reads blocks until the end of the input or of ctx.
func (q *queue) fill(ctx context.Context, lines *lineReader) {
	defer close(q.ordered)
	defer close(q.unread)
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
		case q.unread <- next:
		case <-ctx.Done():
			return
		}
	}
}

// parse parses blocks until there are no more or ctx ends.
func (q *queue) parse(ctx context.Context) {
	for {
		select {
		case next := <-q.unread:
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

// recycle takes back a block that nobody needs any more.
func (q *queue) recycle(b *block) {
	// A block that long lines or many have blown up is not kept.
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

// block is a run of whole lines, or one line that is too long to be read.
type block struct {
	first   int    // number of the first line
	data    []byte // the lines with what ends them
	tooLong bool   // a line too long, without its data
	end     int64  // bytes of the input up to the end of the block

	lines  []parsedLine  // those that are not blank
	parsed chan struct{} // has one element once lines is filled
}

// parsedLine is what the parser made of a line: an order or a problem.
type parsedLine struct {
	number   int
	incoming *order.Incoming // nil: there is a problem
	problem  string
}

// parse reads the documents of the block.
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

// lineTooLong is the problem of a line beyond MaxLineLength.
const lineTooLong = "the line is longer than 4 MiB"

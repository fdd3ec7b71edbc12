package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// blockSize is the size of one read, in bytes. A block is longer only if a
// single line is.
const blockSize = 256 << 10

// maxEmptyReads is how many consecutive reads may return 0, nil.
const maxEmptyReads = 100

// lineReader splits an input into blocks of whole lines. A block ends at the
// last line end of a Read, so that no line waits for more input.
type lineReader struct {
	r       io.Reader
	err     error  // the first error of r
	line    int    // number of the next line
	read    int64  // bytes taken from r
	rest    *block // begins with the bytes after the last line end; nil: none
	skipped bool   // within a line that is too long
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: r, line: 1} }

// next returns the next block, or the error of the input: io.EOF at its end.
// The last line need not have a line end. fresh returns an empty block.
func (l *lineReader) next(fresh func() *block) (*block, error) {
	b := l.rest
	l.rest = nil
	if b == nil {
		b = fresh()
	}
	for {
		if l.err != nil {
			return l.last(b)
		}
		added, err := l.fill(b)
		if err != nil {
			l.err = err
		}
		if l.skipped {
			l.skip(b)
			added = len(b.data)
		}
		end := bytes.LastIndexByte(b.data[len(b.data)-added:], '\n')
		if end >= 0 {
			return l.cut(b, len(b.data)-added+end+1, fresh), nil
		}
		// The byte after MaxLineLength may be the CR of a line end.
		if len(b.data) > MaxLineLength+1 {
			l.skipped = true
			b.data, b.tooLong = nil, true
			return l.number(b, 1), nil
		}
	}
}

// fill reads once into the free end of a block, which it grows if necessary, and
// returns the number of bytes read.
func (l *lineReader) fill(b *block) (int, error) {
	if len(b.data) == cap(b.data) {
		// No line needs more space: a longer one is skipped.
		room := min(max(2*cap(b.data), blockSize), MaxLineLength+blockSize)
		grown := make([]byte, len(b.data), room)
		copy(grown, b.data)
		b.data = grown
	}
	free := b.data[len(b.data):cap(b.data)]
	for range maxEmptyReads {
		n, err := l.r.Read(free)
		b.data = b.data[:len(b.data)+n]
		l.read += int64(n)
		if err == io.EOF {
			return n, err
		}
		if err != nil {
			return n, fmt.Errorf("read orders: %w", err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("read orders: %w", io.ErrNoProgress)
}

// skip removes the rest of a line that is too long from the start of a block.
func (l *lineReader) skip(b *block) {
	end := bytes.IndexByte(b.data, '\n')
	l.skipped = end < 0
	if l.skipped {
		end = len(b.data) - 1
	}
	b.data = append(b.data[:0], b.data[end+1:]...)
}

// cut ends a block at the end of a line and saves the rest for the next block.
func (l *lineReader) cut(b *block, end int, fresh func() *block) *block {
	if rest := b.data[end:]; len(rest) > 0 {
		l.rest = fresh()
		l.rest.data = append(l.rest.data, rest...)
		b.data = b.data[:end]
	}
	return l.number(b, bytes.Count(b.data, []byte{'\n'}))
}

// number sets the line numbers and the end of a block with this many lines.
func (l *lineReader) number(b *block, lines int) *block {
	b.first = l.line
	l.line += lines
	b.end = l.read
	if l.rest != nil {
		b.end -= int64(len(l.rest.data))
	}
	return b
}

// last returns a last line without line end, but only if the input ended
// without an error.
func (l *lineReader) last(b *block) (*block, error) {
	if !errors.Is(l.err, io.EOF) || len(b.data) == 0 {
		return nil, l.err
	}
	return l.number(b, 1), nil
}

package ingest

import (
	"bytes"
	"fmt"
	"io"
)

// blockSize is how much is read at once, in bytes. A block is longer only where
// one line is.
const blockSize = 256 << 10

// maxEmptyReads is how often a reader may return nothing, and no error, in a row.
const maxEmptyReads = 100

// lineReader cuts an input into blocks of whole lines. A block is what one Read
// returned up to its last line end, so that nothing waits for more input.
type lineReader struct {
	r       io.Reader
	err     error  // of r, once it had one
	line    int    // number of the next line
	read    int64  // bytes taken from r
	rest    *block // begins with what followed the last line end; nil: nothing
	skipped bool   // inside a line that is too long
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: r, line: 1} }

// next returns the next block, in one that fresh returns, or the error of the
// input: io.EOF at its end, before which a last line may have no line end.
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
		// One byte more may be the CR of a line end that is not there yet.
		if len(b.data) > MaxLineLength+1 {
			l.skipped = true
			b.data, b.tooLong = nil, true
			return l.number(b, 1), nil
		}
	}
}

// fill reads once into the free end of a block, making room if there is none,
// and returns how much it read.
func (l *lineReader) fill(b *block) (int, error) {
	if len(b.data) == cap(b.data) {
		// Room for a line that is just too long is all that is ever needed.
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

// skip drops from a block, which has nothing else yet, what belongs to a line
// that is too long.
func (l *lineReader) skip(b *block) {
	end := bytes.IndexByte(b.data, '\n')
	l.skipped = end < 0
	if l.skipped {
		end = len(b.data) - 1
	}
	b.data = append(b.data[:0], b.data[end+1:]...)
}

// cut ends a block at the end of a line and keeps the rest for the next one.
func (l *lineReader) cut(b *block, end int, fresh func() *block) *block {
	if rest := b.data[end:]; len(rest) > 0 {
		l.rest = fresh()
		l.rest.data = append(l.rest.data, rest...)
		b.data = b.data[:end]
	}
	return l.number(b, bytes.Count(b.data, []byte{'\n'}))
}

// number gives a block of some lines its place in the input.
func (l *lineReader) number(b *block, lines int) *block {
	b.first = l.line
	l.line += lines
	b.end = l.read
	if l.rest != nil {
		b.end -= int64(len(l.rest.data))
	}
	return b
}

// last returns what is left when the input has ended: a line without its end,
// but only where the input is whole.
func (l *lineReader) last(b *block) (*block, error) {
	if l.err != io.EOF || len(b.data) == 0 {
		return nil, l.err
	}
	return l.number(b, 1), nil
}

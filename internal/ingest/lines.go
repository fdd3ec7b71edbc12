package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"merchantorders/internal/order"
)

const (
	readSize  = 256 << 10 // bytes of one read
	readAhead = 8         // blocks that are parsed, or wait, while a batch is imported
)

// lineReader splits an input into blocks of whole lines. A block ends at the
// last line end of a read, so that no line waits for more input.
type lineReader struct {
	r     *bufio.Reader
	lines int   // number of lines read
	read  int64 // number of bytes read
	err   error // of r; io.EOF at its end
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, readSize)} }

// sendTo sends the blocks to a channel, in the order of the input, until the
// input or ctx ends. It starts a goroutine that parses each block.
func (l *lineReader) sendTo(ctx context.Context, blocks chan<- *block) {
	defer close(blocks)
	for next := l.next(); next != nil; next = l.next() {
		select {
		case blocks <- next:
			go next.parse()
		case <-ctx.Done():
			return
		}
	}
}

// next returns the next block; nil at the end of the input.
func (l *lineReader) next() *block {
	b := &block{first: l.lines + 1, parsed: make(chan struct{})}
	for more := true; more && l.err == nil; more = l.hasLine() {
		complete := len(b.data)
		b.data, l.err = l.appendLine(b.data)
		if l.err != nil && !errors.Is(l.err, io.EOF) {
			b.data, l.err = b.data[:complete], fmt.Errorf("read orders: %w", l.err)
		}
		l.lines++
		b.data = slices.Grow(b.data, l.r.Buffered()) // for all lines that have been read ahead
	}
	b.end = l.read
	if len(b.data) == 0 {
		return nil
	}
	return b
}

// hasLine reports whether a whole line has been read ahead.
func (l *lineReader) hasLine() bool {
	ahead, _ := l.r.Peek(l.r.Buffered())
	return bytes.IndexByte(ahead, '\n') >= 0
}

// appendLine appends the next line with its line end to data; the last line may
// have none. It shortens a line that is too long, but not so much that it is no
// longer too long.
func (l *lineReader) appendLine(data []byte) ([]byte, error) {
	const enough = MaxLineLength + len("x\r\n")
	end := len(data) + enough
	for {
		part, err := l.r.ReadSlice('\n')
		l.read += int64(len(part))
		data = append(data, part[:min(len(part), end-len(data))]...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(data) == end {
			data[end-1] = '\n'
		}
		return data, err
	}
}

// block is a sequence of lines.
type block struct {
	first int    // number of the first line
	data  []byte // the lines with their line ends
	end   int64  // bytes of the input up to the end of the block

	lines  []parsedLine  // without blank lines
	parsed chan struct{} // closed when lines is complete
}

// parsedLine is a line as an order or a problem.
type parsedLine struct {
	number   int
	text     []byte          // as it came, without the line end; nil if it is too long
	incoming *order.Incoming // nil: invalid
	problem  string
}

// parse parses the lines of the block.
func (b *block) parse() {
	defer close(b.parsed)
	b.lines = make([]parsedLine, 0, bytes.Count(b.data, []byte{'\n'})+1)
	number := b.first - 1
	for text := range bytes.Lines(b.data) {
		number++
		line := parsedLine{number: number, text: bytes.TrimSuffix(text, []byte{'\n'})}
		text = bytes.TrimSuffix(line.text, []byte{'\r'})
		if len(text) > MaxLineLength {
			line.text = nil
			line.problem = "the line is longer than 4 MiB"
		} else if len(bytes.Trim(text, " \t\r")) == 0 {
			continue
		} else if in, err := Parse(text); err != nil {
			line.problem = err.Error()
		} else {
			line.incoming = &in
		}
		b.lines = append(b.lines, line)
	}
}

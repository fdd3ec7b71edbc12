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

// MaxLineLength is the longest line, in bytes without the line end. A longer line is
// invalid.
const MaxLineLength = 4 << 20

const (
	readSize  = 256 << 10 // bytes of one read
	readAhead = 8         // blocks that are parsed, or wait, while a batch is imported
)

// ErrInput is the error of an input that cannot be read to its end.
var ErrInput = errors.New("read the input")

// lineReader splits an input into blocks of whole lines. A block ends at the
// last line end of a read, so that no line waits for more input.
type lineReader[T any] struct {
	parse func(number int, text []byte) (T, error)
	r     *bufio.Reader
	lines int   // number of lines read
	read  int64 // number of bytes read
	err   error // of r; io.EOF at its end
}

func newLineReader[T any](r io.Reader, parse func(int, []byte) (T, error)) *lineReader[T] {
	return &lineReader[T]{parse: parse, r: bufio.NewReaderSize(r, readSize)}
}

// sendTo sends the blocks to a channel, in the order of the input, until the
// input or ctx ends. It starts a goroutine that parses each block.
func (l *lineReader[T]) sendTo(ctx context.Context, blocks chan<- *block[T]) {
	defer close(blocks)
	for next := l.next(); next != nil; next = l.next() {
		select {
		case blocks <- next:
			go next.parse(l.parse)
		case <-ctx.Done():
			return
		}
	}
}

// next returns the next block; nil at the end of the input.
func (l *lineReader[T]) next() *block[T] {
	b := &block[T]{first: l.lines + 1, parsed: make(chan struct{})}
	for more := true; more && l.err == nil; more = l.hasLine() {
		complete := len(b.data)
		b.data, l.err = l.appendLine(b.data)
		if l.err != nil && !errors.Is(l.err, io.EOF) {
			b.data, l.err = b.data[:complete], fmt.Errorf("%w: %w", ErrInput, l.err)
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
func (l *lineReader[T]) hasLine() bool {
	ahead, _ := l.r.Peek(l.r.Buffered())
	return bytes.IndexByte(ahead, '\n') >= 0
}

// appendLine appends the next line with its line end to data; the last line may
// have none. It shortens a line that is too long, but not so much that it is no
// longer too long.
func (l *lineReader[T]) appendLine(data []byte) ([]byte, error) {
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
type block[T any] struct {
	first int    // number of the first line
	data  []byte // the lines with their line ends
	end   int64  // bytes of the input up to the end of the block

	lines  []parsedLine[T] // without blank lines
	parsed chan struct{}   // closed when lines is complete
}

// parsedLine is a line before its batch. An invalid one has its result.
type parsedLine[T any] struct {
	Line
	item *T // nil: the line is invalid
}

// parse parses the lines of the block.
func (b *block[T]) parse(parse func(int, []byte) (T, error)) {
	defer close(b.parsed)
	b.lines = make([]parsedLine[T], 0, bytes.Count(b.data, []byte{'\n'})+1)
	number := b.first - 1
	for text := range bytes.Lines(b.data) {
		number++
		line := parsedLine[T]{Line: Line{Result: Result{Number: number}, Text: bytes.TrimSuffix(text, []byte{'\n'})}}
		text = bytes.TrimSuffix(line.Text, []byte{'\r'})
		if len(text) > MaxLineLength {
			line.Text = nil
			line.Status, line.Problem = order.Invalid, "the line is longer than 4 MiB"
		} else if len(bytes.Trim(text, " \t\r")) == 0 {
			continue
		} else if item, err := parse(number, text); errors.Is(err, errIgnored) {
			continue
		} else if err != nil {
			line.Status, line.Problem = order.Invalid, err.Error()
		} else {
			line.item = &item
		}
		b.lines = append(b.lines, line)
	}
}

package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"

	"golang.org/x/sync/semaphore"

	"merchantorders/internal/order"
)

// MaxLineLength is the longest line, in bytes without the line end. A longer line is
// invalid.
const MaxLineLength = 4 << 20

// What an input holds in memory, whatever it has. A parsed line takes hundreds of bytes,
// also one of a single byte, so lines are bounded beside bytes.
const (
	minReadSize  = 64 << 10 // bytes of one read, or a part of the longest line
	maxBlock     = 128      // lines of a block
	readAhead    = 8        // blocks that are parsed, or wait, while a batch is handled
	minReadAhead = 1 << 20  // bytes of all of them, or two of the longest lines
)

// parsers has a value for each block that is parsed at the moment, in the whole process:
// the inputs of one client must leave processor time to the requests of others.
var parsers = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))

// maxBlank is how many blank lines in a row an input may have: they cost little, but an
// input of a thousandth of their size can expand to them.
const maxBlank = 10_000

// ErrBlank is the error of an input with more than maxBlank blank lines in a row.
var ErrBlank = errors.New("the input has more than 10,000 blank lines in a row")

// ErrInput is the error of an input that cannot be read to its end.
var ErrInput = errors.New("read the input")

// lineReader splits an input into blocks of whole lines. A block ends at the
// last line end of a read, so that no line waits for more input.
type lineReader[T any] struct {
	parse    func(number int, text []byte) (T, error)
	r        *bufio.Reader
	maxLine  int
	maxAhead int64
	ahead    *semaphore.Weighted // maxAhead bytes of the blocks that are not handled
	lines    int                 // number of lines read
	read     int64               // number of bytes read
	err      error               // of r; io.EOF at its end
}

func newLineReader[T any](r io.Reader, maxLine int, parse func(int, []byte) (T, error)) *lineReader[T] {
	maxAhead := max(minReadAhead, int64(2*maxLine))
	return &lineReader[T]{parse: parse, r: bufio.NewReaderSize(r, max(minReadSize, maxLine/16)), maxLine: maxLine, maxAhead: maxAhead, ahead: semaphore.NewWeighted(maxAhead)}
}

// sendTo sends the blocks to a channel, in the order of the input, until the
// input or ctx ends. It starts a goroutine that parses each block.
func (l *lineReader[T]) sendTo(ctx context.Context, blocks chan<- *block[T]) {
	defer close(blocks)
	for next := l.next(); next != nil; next = l.next() {
		if l.ahead.Acquire(ctx, l.size(next)) != nil {
			return
		}
		select {
		case blocks <- next:
			go next.parse(ctx, l.parse)
		case <-ctx.Done():
			return
		}
	}
}

// size returns the bytes of a block that count as read ahead.
func (l *lineReader[T]) size(b *block[T]) int64 { return min(int64(cap(b.data)), l.maxAhead) }

// next returns the next block; nil at the end of the input.
func (l *lineReader[T]) next() *block[T] {
	b := &block[T]{maxLine: l.maxLine, first: l.lines + 1, parsed: make(chan struct{})}
	for more := true; more && l.err == nil; more = l.lines-b.first+1 < maxBlock && l.hasLine() {
		complete := len(b.data)
		b.data, l.err = l.appendLine(b.data)
		if l.err != nil && !errors.Is(l.err, io.EOF) {
			b.data, l.err = b.data[:complete], fmt.Errorf("%w: %w", ErrInput, l.err)
		}
		l.lines++
	}
	b.end, b.count = l.read, l.lines-b.first+1
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
	end := len(data) + l.maxLine + len("x\r\n")
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
	maxLine int
	first   int    // number of the first line
	data    []byte // the lines with their line ends
	end     int64  // bytes of the input up to the end of the block
	count   int    // lines, with blank ones

	lines  []parsedLine[T] // without blank lines
	parsed chan struct{}   // closed when lines is complete
}

// sizeText returns a number of bytes, of whole KiB or MiB, for people.
func sizeText(n int) string {
	if n < 1<<20 {
		return strconv.Itoa(n>>10) + " KiB"
	}
	return strconv.Itoa(n>>20) + " MiB"
}

// parsedLine is a line before its batch. An invalid one has its result.
type parsedLine[T any] struct {
	Line
	item *T // nil: the line is invalid
}

// parse parses the lines of the block.
func (b *block[T]) parse(ctx context.Context, parse func(int, []byte) (T, error)) {
	defer close(b.parsed)
	select {
	case parsers <- struct{}{}:
	case <-ctx.Done():
		return // the run has ended
	}
	defer func() { <-parsers }()
	b.lines = make([]parsedLine[T], 0, bytes.Count(b.data, []byte{'\n'})+1)
	number := b.first - 1
	for text := range bytes.Lines(b.data) {
		number++
		line := parsedLine[T]{Line: Line{Result: Result{Number: number}, Text: bytes.TrimSuffix(text, []byte{'\n'})}}
		text = bytes.TrimSuffix(line.Text, []byte{'\r'})
		if len(text) > b.maxLine {
			line.Text = nil
			line.Status, line.Problem = order.Invalid, "the line is longer than "+sizeText(b.maxLine)
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

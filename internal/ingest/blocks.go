package ingest

import (
	"bufio"
	"bytes"
	"cmp"
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
	readAhead    = 8        // blocks that wait while a batch is handled
	minReadAhead = 1 << 20  // bytes of all of them, or two of the longest lines
)

// parsers has a value for each line that is parsed at the moment, in the whole process:
// the inputs of one client must leave processor time to the requests of others.
var parsers = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))

// maxBlank is how many blank lines in a row an input may have: they cost little, but an
// input of a thousandth of their size can expand to them.
const maxBlank = 10_000

// ErrBlank is the error of an input with more than maxBlank blank lines in a row.
var ErrBlank = errors.New("the input has more than 10,000 blank lines in a row")

// ErrInput is the error of an input that cannot be read to its end.
var ErrInput = errors.New("read the input")

// block is some lines of an input, which are handled at once: it ends where the next line may
// have to wait for more input.
type block[T any] struct {
	lines []parsedLine[T] // without blank ones
	end   int64           // bytes of the input up to the end of the block
	size  int64           // bytes that count as read ahead
}

// parsedLine is a line before its batch. An invalid one has its result.
type parsedLine[T any] struct {
	Line
	item *T // nil: the line is invalid
}

// lineReader reads the lines of an input ahead, and parses them.
type lineReader[T any] struct {
	batches[T]
	r        *bufio.Reader
	read     int64 // bytes
	maxAhead int64
	ahead    *semaphore.Weighted // maxAhead bytes of the blocks that are not handled
}

func newLineReader[T any](b batches[T], r io.Reader) *lineReader[T] {
	b.maxLine = cmp.Or(b.maxLine, MaxLineLength)
	maxAhead := max(minReadAhead, int64(2*b.maxLine))
	return &lineReader[T]{batches: b, r: bufio.NewReaderSize(r, max(minReadSize, b.maxLine/16)), maxAhead: maxAhead, ahead: semaphore.NewWeighted(maxAhead)}
}

// sendTo sends the blocks to a channel, in the order of the input, until the input or ctx
// ends. The error is not io.EOF.
func (l *lineReader[T]) sendTo(ctx context.Context, blocks chan<- block[T]) error {
	var next block[T]
	blank := 0 // lines in a row
	for number := 1; ; number++ {
		text, err := l.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			text, err = nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
		if line, ok := l.parseLine(number, text); ok {
			next.lines, blank = append(next.lines, line), 0
		} else if blank++; blank > maxBlank && err == nil {
			err = ErrBlank
		}
		next.end, next.size = l.read, min(next.size+int64(len(text)), l.maxAhead)
		if err == nil && number%maxBlock != 0 && l.hasLine() {
			continue
		}
		if l.ahead.Acquire(ctx, next.size) != nil {
			return ctx.Err()
		}
		select {
		case blocks <- next:
		case <-ctx.Done():
			return ctx.Err()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		next = block[T]{}
	}
}

// hasLine reports whether a whole line has been read ahead.
func (l *lineReader[T]) hasLine() bool {
	ahead, _ := l.r.Peek(l.r.Buffered())
	return bytes.IndexByte(ahead, '\n') >= 0
}

// readLine returns the next line with its line end; the last line may have none. It
// shortens a line that is too long, but not so much that it is no longer too long.
func (l *lineReader[T]) readLine() (line []byte, err error) {
	longest := l.maxLine + len("x\r\n")
	for {
		part, err := l.r.ReadSlice('\n')
		l.read += int64(len(part))
		line = append(line, part[:min(len(part), longest-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// parseLine parses a line. ok is false if it is blank or ignored.
func (l *lineReader[T]) parseLine(number int, text []byte) (line parsedLine[T], ok bool) {
	line.Number, line.Text = number, bytes.TrimSuffix(text, []byte{'\n'})
	text = bytes.TrimSuffix(line.Text, []byte{'\r'})
	switch {
	case len(text) > l.maxLine:
		line.Text = nil
		line.Status, line.Problem = order.Invalid, "the line is longer than "+sizeText(l.maxLine)
		return line, true
	case len(bytes.Trim(text, " \t\r")) == 0:
		return line, false
	}
	parsers <- struct{}{}
	item, err := l.parse(number, text)
	<-parsers
	switch {
	case errors.Is(err, errIgnored):
		return line, false
	case err != nil:
		line.Status, line.Problem = order.Invalid, lineProblem(err)
	default:
		line.item = &item
	}
	return line, true
}

// sizeText returns a number of bytes, of whole KiB or MiB, for people.
func sizeText(n int) string {
	if n < 1<<20 {
		return strconv.Itoa(n>>10) + " KiB"
	}
	return strconv.Itoa(n>>20) + " MiB"
}

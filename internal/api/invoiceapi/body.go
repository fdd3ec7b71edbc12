package invoiceapi

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
)

const (
	// MaxBody is the largest body of an upload, in whole MiB: the largest file in
	// base64, with every slash escaped, and maxOther (decision 6).
	MaxBody = (2*maxBase64 + maxOther + 1<<20 - 1) >> 20 << 20
	// maxBase64 is the length of the largest file in base64.
	maxBase64 = (order.MaxInvoiceSize + 2) / 3 * 4
	// maxOther is how many bytes of a body may be neither the content's string nor
	// white space. To find duplicates, the decoder remembers the names of all
	// members, also those in values that are ignored: without a bound, a body full
	// of names costs many times what an upload costs.
	maxOther = 128 << 10
)

var (
	// ErrPayload means that the body is not a valid upload, or that it is incomplete
	// (spec 7, "Invalid payload.").
	ErrPayload = errors.New("invalid payload")
	// ErrBodyTooBig means that the body is larger than MaxBody, valid or not (decision 6, "The
	// file size is too big.").
	ErrBodyTooBig = errors.New("request body is too big")
)

// StageFunc creates a staged file. order.Service.StageFile is one.
type StageFunc func(ctx context.Context) (order.StagedFile, error)

// ReadUpload reads the body of an upload (spec 4.3) and stages its content. It
// returns the file name as the client sent it, not empty, and the content, not
// empty, whose staged file the caller aborts. Of content above
// order.MaxInvoiceSize, Size is right, but the staged file and the digest end at
// that size.
//
// The body arrives in a staged file too, at the speed of the client. Only then it
// is decoded in memory, by a few requests at a time: the memory does not grow with
// the number of uploads.
//
// Errors: ErrPayload, ErrBodyTooBig, and those of the staged files. After an error
// no staged file remains.
func ReadUpload(ctx context.Context, body io.Reader, stage StageFunc) (filename string, content order.Content, err error) {
	spool, err := stage(ctx)
	if err != nil {
		return "", order.Content{}, err
	}
	defer spool.Abort()
	if err := receive(spool, body); err != nil {
		return "", order.Content{}, err
	}
	release, err := acquireDecoder(ctx)
	if err != nil {
		return "", order.Content{}, err
	}
	defer release()
	b := decodeBuffers.Get().(*buffers)
	defer decodeBuffers.Put(b)
	if b.body, err = readAll(b.body, spool); err != nil {
		return "", order.Content{}, err
	}
	if filename, err = b.parse(); err != nil || filename == "" || len(b.content) == 0 {
		return "", order.Content{}, ErrPayload
	}
	if content, err = stageContent(ctx, b.content, stage); err != nil {
		return "", order.Content{}, err
	}
	return filename, content, nil
}

// receive copies a body to a staged file.
func receive(spool order.StagedFile, body io.Reader) error {
	into := &errorWriter{w: spool}
	// A bufio.Reader gives up on a body that returns neither bytes nor an error.
	size, err := bufio.NewReaderSize(io.LimitReader(body, MaxBody+1), 32<<10).WriteTo(into)
	switch {
	case into.err != nil:
		return fmt.Errorf("stage the body of an upload: %w", into.err)
	case size > MaxBody:
		return ErrBodyTooBig
	case err != nil:
		return ErrPayload
	}
	return nil
}

// errorWriter remembers its error, to tell it from an error of the reader.
type errorWriter struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (e *errorWriter) Write(p []byte) (int, error) {
	n, err := e.w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	e.err = err
	return n, err
}

// decoders bounds how many uploads are decoded at a time: as many as half of the
// processors, so that the other half serves other requests.
var decoders = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// acquireDecoder waits until the upload may be decoded. The caller calls release
// afterwards.
func acquireDecoder(ctx context.Context) (release func(), err error) {
	select {
	case decoders <- struct{}{}:
		return func() { <-decoders }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// buffers hold one upload in memory.
type buffers struct {
	body     []byte // JSON
	unquoted []byte // base64, if the JSON string has escapes
	content  []byte // decoded
}

// decodeBuffers hold *buffers between uploads.
var decodeBuffers = sync.Pool{New: func() any { return new(buffers) }}

// readAll reads a staged file into a buffer. It returns the buffer, or a larger one
// if that is too small.
func readAll(buffer []byte, file order.StagedFile) ([]byte, error) {
	content, err := file.Content()
	if err != nil {
		return buffer, fmt.Errorf("read the body of an upload: %w", err)
	}
	buffer = slices.Grow(buffer[:0], int(content.Size()))[:content.Size()]
	if _, err := io.ReadFull(content, buffer); err != nil {
		return buffer, fmt.Errorf("read the body of an upload: %w", err)
	}
	return buffer, nil
}

// parse reads the members of body: it returns the file name and sets content. A
// known name in other letters is an error, since the client means that member.
func (b *buffers) parse() (filename string, err error) {
	d := &decoder{Decoder: jsontext.NewDecoder(bytes.NewBuffer(b.body))}
	b.content = b.content[:0]
	if d.PeekKind() != '{' {
		return "", ErrPayload
	}
	_, err = d.next()
	for err == nil && d.PeekKind() != '}' {
		var name string
		if name, err = d.text(); err != nil {
			break
		}
		switch {
		case name == filenameName:
			filename, err = d.text()
		case name == contentName:
			err = b.decodeContent(d)
		case strings.EqualFold(name, filenameName), strings.EqualFold(name, contentName):
			err = ErrPayload
		default:
			err = d.skip()
		}
	}
	if err != nil {
		return "", err
	}
	if _, err = d.next(); err != nil {
		return "", err
	}
	if _, err = d.next(); !errors.Is(err, io.EOF) {
		return "", ErrPayload // something follows the object
	}
	return filename, nil
}

// The names of the members of an upload.
const (
	filenameName = "filename"
	contentName  = "contentBase64"
)

// decodeContent decodes the content's string. Base64 without escapes is decoded
// where it is, without a copy of it: that of the largest file has 5.3 MB.
func (b *buffers) decodeContent(d *decoder) error {
	value, err := d.next()
	if err != nil {
		return err
	}
	if value.Kind() != '"' {
		return ErrPayload
	}
	d.other -= len(value)
	text := []byte(value[1 : len(value)-1])
	if bytes.IndexByte(text, '\\') >= 0 {
		if b.unquoted, err = jsontext.AppendUnquote(b.unquoted[:0], value); err != nil {
			return err
		}
		text = b.unquoted
	}
	// Line breaks in it are ignored.
	b.content, err = base64.StdEncoding.AppendDecode(b.content, text)
	return err
}

// decoder is a strict JSON decoder: names are unique, and texts are valid UTF-8
// without lone surrogates. Its methods count what is not the content's string.
type decoder struct {
	*jsontext.Decoder
	other int // bytes read by next, without white space
}

// next returns the next string, number or literal, or nil after a brace or a
// bracket. It returns ErrPayload if more than maxOther bytes have been read.
func (d *decoder) next() (value jsontext.Value, err error) {
	if d.other > maxOther {
		return nil, ErrPayload
	}
	kind := d.PeekKind()
	if _, length := d.StackIndex(d.StackDepth()); length > 0 && kind != '}' && kind != ']' {
		d.other++ // a comma or a colon
	}
	switch kind {
	case '{', '}', '[', ']':
		d.other++
		_, err = d.ReadToken()
	default:
		value, err = d.ReadValue()
		d.other += len(value)
	}
	return value, err
}

// text returns the next value, which must be a string.
func (d *decoder) text() (string, error) {
	value, err := d.next()
	if err == nil && value.Kind() != '"' {
		err = ErrPayload
	}
	if err != nil {
		return "", err
	}
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}

// skip reads the next value and everything in it.
func (d *decoder) skip() error {
	depth := d.StackDepth()
	for {
		if _, err := d.next(); err != nil || d.StackDepth() == depth {
			return err
		}
	}
}

// stageContent writes decoded content to a staged file.
func stageContent(ctx context.Context, decoded []byte, stage StageFunc) (order.Content, error) {
	stored := decoded[:min(len(decoded), order.MaxInvoiceSize)]
	staged, err := stage(ctx)
	if err != nil {
		return order.Content{}, err
	}
	into := errorWriter{w: staged}
	if _, err := into.Write(stored); err != nil {
		staged.Abort()
		return order.Content{}, fmt.Errorf("stage the content of an upload: %w", err)
	}
	return order.Content{Staged: staged, Size: int64(len(decoded)), SHA256: sha256.Sum256(stored)}, nil
}

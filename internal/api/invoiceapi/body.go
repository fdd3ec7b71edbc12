package invoiceapi

import (
	"bufio"
	"bytes"
	"context"
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
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
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

// ErrBodyTooBig means that the body is larger than MaxBody, valid or not (decision 6, "The
// file size is too big.").
var ErrBodyTooBig = errors.New("request body is too big")

// ReadUpload reads the body of an upload (spec 4.3) and stages its content. It
// returns the file name as the client sent it, not empty, and the content, not
// empty, whose staged file the caller aborts. Of content above
// order.MaxInvoiceSize, Size is right, but the staged file and the digest end at
// that size. names are the fields of order.InvoiceData that the body may have.
//
// The body arrives in a staged file too, at the speed of the client. Only then it
// is decoded in memory, by a few requests at a time: the memory does not grow with
// the number of uploads.
//
// Errors: strict.ErrInvalidPayload, ErrBodyTooBig, and those of the staged files. After an error
// no staged file remains.
func ReadUpload(ctx context.Context, body io.Reader, stage order.StageFunc, names ...string) (filename string, content order.Content, err error) {
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
	filename, data, err := b.parse(names)
	if err != nil {
		return "", order.Content{}, err
	}
	if content, err = order.StageContent(ctx, stage, bytes.NewReader(b.content)); err != nil {
		return "", order.Content{}, err
	}
	content.InvoiceData = data
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
		return strict.Detail(strict.ErrInvalidPayload, "The body did not arrive completely and in time.")
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

// parse reads the members of body: it returns the file name and the fields with names, and sets
// content. The file name and the content are not empty. A known name in other letters is an
// error, since the client means that member. Every error is a strict.ErrInvalidPayload with a
// detail.
func (b *buffers) parse(names []string) (filename string, data order.InvoiceData, err error) {
	d := &decoder{Decoder: jsontext.NewDecoder(bytes.NewBuffer(b.body))}
	b.content = b.content[:0]
	filename, err = b.members(d, &data, names)
	_, known := errors.AsType[strict.Detailed](err)
	switch {
	case err != nil && names != nil && bytes.HasPrefix(b.body, []byte("--")): // a form, which only version 2 takes
		err = web.ErrFormType
	case err != nil && !known:
		err = strict.Detail(strict.ErrInvalidPayload, "%s", strict.JSONProblem(b.body, err))
	}
	return filename, data, err
}

func (b *buffers) members(d *decoder, data *order.InvoiceData, names []string) (filename string, err error) {
	if d.PeekKind() != '{' {
		return "", io.EOF // for strict.JSONProblem
	}
	var ignored []string // the first of the names
	_, err = d.next()
	for err == nil && d.PeekKind() != '}' {
		var name string
		if name, err = d.text(); err != nil {
			return "", err
		}
		switch name {
		case filenameName:
			if filename, err = d.textOf(name); err == nil && filename == "" {
				err = strict.Detail(strict.ErrInvalidPayload, "filename is empty: send the name of the file, such as invoice.pdf.")
			}
		case contentName:
			err = b.decodeContent(d)
		default:
			if slices.Contains(names, name) {
				err = d.field(name, data)
				break
			}
			if len(ignored) < maxNamed {
				ignored = append(ignored, name)
			}
			if err = strict.OtherLetters(name, append([]string{filenameName, contentName}, names...)...); err == nil {
				err = d.skip()
			}
		}
	}
	if err != nil {
		return "", err
	}
	if _, err = d.next(); err != nil {
		return "", err
	}
	if _, err = d.next(); err == nil {
		err = errors.New("something after top-level value")
	}
	switch {
	case !errors.Is(err, io.EOF):
		return "", err
	case filename == "":
		return "", missing(filenameName, ignored)
	case len(b.content) == 0:
		return "", missing(contentName, ignored)
	}
	return filename, nil
}

// maxNamed is how many ignored names are compared with that of a missing member.
const maxNamed = 8

// missing returns the error of a body without a member, which it may have under an ignored name.
func missing(name string, ignored []string) error {
	means := func(other string) bool { return strict.Nearest(other, filenameName, contentName) == name }
	if slices.ContainsFunc(ignored, means) {
		return strict.Detail(strict.ErrInvalidPayload, "%s is missing: a key with a similar name was ignored.", name)
	}
	return strict.Detail(strict.ErrInvalidPayload, "%s is missing.", name)
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
		return strict.Detail(strict.ErrInvalidPayload, "contentBase64 must be a text.")
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
	if b.content, err = base64.StdEncoding.AppendDecode(b.content, text); err != nil {
		return strict.Detail(strict.ErrInvalidPayload, "contentBase64 %s.", base64Problem(text))
	}
	if len(b.content) == 0 {
		return strict.Detail(strict.ErrInvalidPayload, "contentBase64 is empty: was the file read before it was sent?")
	}
	return nil
}

// base64Characters are those of standard base64 and the ends of lines.
const base64Characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n"

// maxName is the length of texts that may be a name instead of content, in bytes.
const maxName = 300

// base64Problem returns what is wrong with a text that is not valid base64.
func base64Problem(text []byte) string {
	begins := func(prefix string) bool { return bytes.HasPrefix(text, []byte(prefix)) }
	switch {
	case begins("data:"):
		return "begins with data: and a type; send only what follows base64 and the comma"
	case begins("%PDF"), begins("\u0089PNG"):
		return "is the file itself: encode it in base64"
	case len(text) < maxName && bytes.ContainsAny(text, ".:@"):
		return "is a name or an address: send the content of the file"
	case bytes.ContainsAny(text, " \t"):
		return "has a space or a tab: only line breaks are allowed in it"
	case bytes.ContainsAny(text, "%"):
		return "is percent-encoded, as for a form: send the base64 itself"
	case bytes.ContainsAny(text, "-_"):
		return "is base64url, with - and _: send standard base64, with + and /"
	case bytes.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune(base64Characters, r) }):
		return "has other characters than those of base64, such as the quotes of Python's b'...': send letters, digits, +, / and ="
	case bytes.HasSuffix(bytes.TrimRight(text, "\r\n"), []byte("=")):
		return "has padding (=) in another place than its end, or more than one file"
	}
	return "is not standard base64: its length without line breaks must be a multiple of four, padded with ="
}

// decoder is a strict JSON decoder: names are unique, and texts are valid UTF-8
// without lone surrogates. Its methods count what is not the content's string.
type decoder struct {
	*jsontext.Decoder
	other int // bytes read by next, without white space
}

// next returns the next string, number or literal, or nil after a brace or a
// bracket. It returns strict.ErrInvalidPayload if more than maxOther bytes have been read.
func (d *decoder) next() (value jsontext.Value, err error) {
	if d.other > maxOther {
		return nil, strict.Detail(strict.ErrInvalidPayload, "The body may have 128 KiB beside contentBase64.")
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

// field reads the value of an optional member; null is as if it were absent.
func (d *decoder) field(name string, data *order.InvoiceData) error {
	if d.PeekKind() == 'n' {
		return d.skip()
	}
	text, err := d.textOf(name)
	if err != nil {
		return err
	}
	return fieldProblem(name, data.Set(name, text))
}

// fieldProblem returns the error of a field with a problem; nil: it has none.
func fieldProblem(name, problem string) error {
	if problem == "" {
		return nil
	}
	return strict.Detail(strict.ErrInvalidPayload, "%s %s.", name, problem)
}

// text returns the next name.
func (d *decoder) text() (string, error) { return d.textOf("a key") }

// textOf returns the next value, which must be a string, of the member with a name.
func (d *decoder) textOf(name string) (string, error) {
	value, err := d.next()
	if err == nil && value.Kind() != '"' {
		err = fieldProblem(name, "must be a text")
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

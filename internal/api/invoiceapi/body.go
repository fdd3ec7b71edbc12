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
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
)

// MaxBody is the largest body of an upload, in bytes: the largest file in base64
// with room for wrapped lines and escapes (decision 6).
const MaxBody = 8 << 20

var (
	// ErrPayload means that the body is not a valid upload, or that it is incomplete (spec 7, "Invalid
	// payload.").
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
	upload := uploadBody{Content: base64Text{decoded: b.content[:0]}}
	err = json.Unmarshal(b.body, &upload)
	b.content = upload.Content.decoded
	if err != nil || upload.Filename == "" || len(b.content) == 0 {
		return "", order.Content{}, ErrPayload
	}
	content, err = stageContent(ctx, b.content, stage)
	return upload.Filename, content, err
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
	body    []byte // JSON
	content []byte // decoded
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

// uploadBody is the JSON of an upload. The decoder is strict by default: names are
// case-sensitive and unique, texts are valid UTF-8 without lone surrogates, and
// nothing follows the object.
type uploadBody struct {
	Filename string     `json:"filename"`
	Content  base64Text `json:"contentBase64"`
}

// base64Text is a JSON string in base64. Line breaks in it are ignored.
type base64Text struct{ decoded []byte }

// UnmarshalJSONFrom implements json.UnmarshalerFrom. It decodes the string where it
// is, without a copy of it: that of the largest file has 5.3 MB.
func (t *base64Text) UnmarshalJSONFrom(decoder *jsontext.Decoder) error {
	value, err := decoder.ReadValue()
	if err != nil {
		return err
	}
	if value.Kind() != '"' {
		return ErrPayload
	}
	text := []byte(value[1 : len(value)-1])
	if bytes.IndexByte(text, '\\') >= 0 {
		if text, err = jsontext.AppendUnquote(nil, value); err != nil {
			return err
		}
	}
	t.decoded, err = base64.StdEncoding.AppendDecode(t.decoded, text)
	return err
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

package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
)

// source is the content of an upload. Each attempt reads it from begin.
type source struct {
	reader io.ReadSeeker
	begin  int64 // initial offset
	size   int64 // bytes from begin to the end
}

// newSource returns a source of content. It reads content that is not seekable into
// memory, at most MaxInvoiceSize+1 bytes.
func newSource(content io.Reader) (*source, error) {
	if seeker, ok := content.(io.ReadSeeker); ok {
		// A pipe has the method Seek, but it fails.
		if begin, err := seeker.Seek(0, io.SeekCurrent); err == nil {
			end, err := seeker.Seek(0, io.SeekEnd)
			if err != nil {
				return nil, err
			}
			return &source{reader: seeker, begin: begin, size: max(end-begin, 0)}, nil
		}
	}
	data, err := io.ReadAll(io.LimitReader(content, MaxInvoiceSize+1))
	if err != nil {
		return nil, err
	}
	return &source{reader: bytes.NewReader(data), size: int64(len(data))}, nil
}

// uploadBody is the JSON body of an upload. It encodes the content as it is read.
type uploadBody struct {
	text   io.Reader // the body
	length int64

	mu     sync.Mutex
	reader io.Reader // of the source
	ended  bool
	err    error // of the source
}

var errAttemptEnded = errors.New("the attempt has ended")

// newUploadBody returns the body of one attempt. Earlier bodies of the same source
// must have ended.
func newUploadBody(filename string, from *source) (requestBody, error) {
	name, err := json.Marshal(filename)
	if err != nil {
		return nil, err // strings can always be encoded
	}
	if _, err := from.reader.Seek(from.begin, io.SeekStart); err != nil {
		return nil, err
	}
	head, tail := `{"filename":`+string(name)+`,"contentBase64":"`, `"}`
	b := &uploadBody{reader: io.LimitReader(from.reader, from.size)}
	b.length = int64(len(head)) + base64Length(from.size) + int64(len(tail))
	b.text = io.MultiReader(strings.NewReader(head), &base64Reader{from: sourceReader{b}}, strings.NewReader(tail))
	return b, nil
}

// base64Length returns the length of n bytes in base64.
func base64Length(n int64) int64 { return (n + 2) / 3 * 4 }

// Read implements io.Reader.
func (b *uploadBody) Read(p []byte) (int, error) { return b.text.Read(p) }

// Close implements io.Closer. It does not wait for a read in progress, since the
// caller's reader may block.
func (b *uploadBody) Close() error { return nil }

func (b *uploadBody) size() int64 { return b.length }

func (b *uploadBody) end() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	return b.err
}

// sourceReader reads the source until the body has ended. The transport may continue
// to read after an attempt, when the content belongs to the caller again.
type sourceReader struct{ b *uploadBody }

// Read implements io.Reader.
func (r sourceReader) Read(p []byte) (int, error) {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	if r.b.ended {
		return 0, errAttemptEnded
	}
	n, err := r.b.reader.Read(p)
	if err != nil && err != io.EOF {
		r.b.err = err
	}
	return n, err
}

// base64Reader encodes the bytes of a reader in base64.
type base64Reader struct {
	from io.Reader
	raw  [24 << 10]byte // a multiple of 3, so that only the last block is padded
	text [32 << 10]byte
	rest []byte // of text, not yet returned
	err  error  // the error that ended reading
}

// Read implements io.Reader.
func (r *base64Reader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		var n int
		n, r.err = io.ReadFull(r.from, r.raw[:])
		if errors.Is(r.err, io.ErrUnexpectedEOF) {
			r.err = io.EOF
		}
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return 0, r.err
		}
		base64.StdEncoding.Encode(r.text[:], r.raw[:n])
		r.rest = r.text[:base64.StdEncoding.EncodedLen(n)]
		if len(r.rest) == 0 {
			return 0, r.err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

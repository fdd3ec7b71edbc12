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

// source is content to be sent, from the beginning at each try.
type source struct {
	reader io.ReadSeeker
	begin  int64 // where it stood
	size   int64 // bytes from there to the end
}

// newSource makes content one that can be read again. Of content that had to be
// read for that, more than MaxInvoiceSize bytes are not kept, but counted.
func newSource(content io.Reader) (*source, error) {
	if seeker, ok := content.(io.ReadSeeker); ok {
		// A pipe has the method, but not the ability.
		if begin, err := seeker.Seek(0, io.SeekCurrent); err == nil {
			end, err := seeker.Seek(0, io.SeekEnd)
			if err != nil {
				return nil, err
			}
			return &source{reader: seeker, begin: begin, size: max(end-begin, 0)}, nil
		}
	}
	kept, err := io.ReadAll(io.LimitReader(content, MaxInvoiceSize+1))
	if err != nil {
		return nil, err
	}
	return &source{reader: bytes.NewReader(kept), size: int64(len(kept))}, nil
}

// uploadBody is the JSON body of an upload, written as it is read.
type uploadBody struct {
	text   io.Reader // the body
	length int64

	mu     sync.Mutex
	reader io.Reader // of the source
	ended  bool
	fault  error // of the source
}

var errEnded = errors.New("the try has ended")

// newUploadBody returns the body of one try. There must be no other of the same
// source that has not ended.
func newUploadBody(filename string, from *source) (requestBody, error) {
	name, err := json.Marshal(filename)
	if err != nil {
		return nil, err // text always can be written
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

// base64Length returns how long n bytes are as base64.
func base64Length(n int64) int64 { return (n + 2) / 3 * 4 }

// Read implements io.Reader.
func (b *uploadBody) Read(p []byte) (int, error) { return b.text.Read(p) }

// Close implements io.Closer. It does not wait for a read under way, which the
// caller's reader may hold up.
func (b *uploadBody) Close() error { return nil }

func (b *uploadBody) size() int64 { return b.length }

func (b *uploadBody) end() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	return b.fault
}

// sourceReader reads the source of a body until that has ended: the transport
// may read on after a try is over, and the content is the caller's again then.
type sourceReader struct{ b *uploadBody }

// Read implements io.Reader.
func (r sourceReader) Read(p []byte) (int, error) {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	if r.b.ended {
		return 0, errEnded
	}
	n, err := r.b.reader.Read(p)
	if err != nil && err != io.EOF {
		r.b.fault = err
	}
	return n, err
}

// base64Reader reads bytes and gives them as base64 text.
type base64Reader struct {
	from io.Reader
	raw  [24 << 10]byte // a multiple of 3, so that only the last piece is padded
	text [32 << 10]byte
	left []byte // of text, still to be given
	err  error  // how reading ended
}

// Read implements io.Reader.
func (r *base64Reader) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		var n int
		n, r.err = io.ReadFull(r.from, r.raw[:])
		if r.err == io.ErrUnexpectedEOF {
			r.err = io.EOF
		}
		if r.err != nil && r.err != io.EOF {
			return 0, r.err
		}
		base64.StdEncoding.Encode(r.text[:], r.raw[:n])
		r.left = r.text[:base64.StdEncoding.EncodedLen(n)]
		if len(r.left) == 0 {
			return 0, r.err
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

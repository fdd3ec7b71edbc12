package invoiceapi

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
)

// MaxBody is the largest body of an upload, in bytes: the largest file as
// base64 with room for wrapped lines and escapes (decision 6).
const MaxBody = 8 << 20

var (
	// ErrPayload: the body is not what an upload takes (spec 7, "Invalid
	// payload."), or it could not be read to its end.
	ErrPayload = errors.New("invalid payload")
	// ErrBodyTooBig: the body is over MaxBody, whatever else is wrong with it
	// (decision 6, "The file size is too big.").
	ErrBodyTooBig = errors.New("request body is too big")
)

// buffers are what one upload needs, kept for the next.
type buffers struct {
	text    [32 << 10]byte // as it was sent
	decoded [48 << 10]byte
}

var pool = sync.Pool{New: func() any { return new(buffers) }}

// ReadUpload reads the body of an upload (spec 4.3) as it arrives: the decoded
// content goes to a draft, opened when there is something to write, and memory
// does not grow with it. It returns the file name as it was sent, not empty,
// and the content, not empty, whose draft the caller discards. Of content above
// order.MaxInvoiceSize the size is right, but the draft and the digest end
// there.
//
// Errors: ErrPayload, ErrBodyTooBig, and what the draft said when the content
// could not be kept. After an error nothing is left of the draft.
func ReadUpload(body io.Reader, open func() (order.StagedFile, error)) (string, order.Content, error) {
	b := pool.Get().(*buffers)
	defer pool.Put(b)
	limited := &limitedBody{body: body, left: MaxBody}
	into := &sink{open: open, digest: sha256.New(), decoded: b.decoded[:]}
	kept := false
	defer func() {
		if !kept && into.draft != nil {
			into.draft.Abort()
		}
	}()

	filename, err := readMembers(jsontext.NewDecoder(&diverter{body: limited, sink: into, buf: b.text[:]}))
	if err == nil {
		err = into.finish()
	}
	switch {
	case into.fault != nil:
		return "", order.Content{}, into.fault
	case err != nil && limited.tooBig():
		return "", order.Content{}, ErrBodyTooBig
	case err != nil:
		return "", order.Content{}, ErrPayload
	}
	kept = true
	content := order.Content{Staged: into.draft, Size: into.size}
	into.digest.Sum(content.SHA256[:0])
	return filename, content, nil
}

// readMembers reads the one JSON object of a body and returns its file name.
// The decoder is strict by itself: names letter for letter and only once, valid
// UTF-8, no lone surrogates. What it gets of the content is an empty text.
func readMembers(decoder *jsontext.Decoder) (string, error) {
	if token, err := decoder.ReadToken(); err != nil || token.Kind() != '{' {
		return "", ErrPayload
	}
	filename, hasContent := "", false
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil {
			return "", ErrPayload
		}
		switch name.String() {
		case "filename":
			filename, err = readText(decoder)
		case contentName:
			hasContent = true
			_, err = readText(decoder)
		default:
			err = decoder.SkipValue()
		}
		if err != nil {
			return "", ErrPayload
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return "", ErrPayload
	}
	if _, err := decoder.ReadToken(); err != io.EOF {
		return "", ErrPayload // text after the object, or a body cut off
	}
	if filename == "" || !hasContent {
		return "", ErrPayload
	}
	return filename, nil
}

// readText reads a value that must be text.
func readText(decoder *jsontext.Decoder) (string, error) {
	token, err := decoder.ReadToken()
	if err != nil {
		return "", err
	}
	if token.Kind() != '"' {
		return "", ErrPayload
	}
	return token.String(), nil
}

// emptyReads is how often in a row a body may give nothing and no error.
const emptyReads = 100

// limitedBody is a body that ends with ErrBodyTooBig after MaxBody bytes, and
// with io.ErrNoProgress when it stands still. How it ended stays its end.
type limitedBody struct {
	body io.Reader
	left int64 // bytes that may still come; below 0: too many came
	err  error // how reading ended
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	// One byte more than may come, to see whether it does.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	for range emptyReads {
		if b.err != nil {
			return 0, b.err
		}
		var n int
		n, b.err = b.body.Read(p)
		b.left -= int64(n)
		if b.left < 0 {
			b.err = ErrBodyTooBig
			return 0, b.err
		}
		if n > 0 {
			return n, b.err
		}
	}
	b.err = io.ErrNoProgress
	return 0, b.err
}

// tooBig reads what is left of a body that is refused anyway and reports
// whether it is too big, since that is looked at before all else.
func (b *limitedBody) tooBig() bool {
	_, err := io.Copy(io.Discard, b)
	return errors.Is(err, ErrBodyTooBig)
}

// sink takes the base64 text of the content in pieces and turns it into the
// bytes of a draft. It agrees with base64.StdEncoding.
type sink struct {
	open    func() (order.StagedFile, error)
	draft   order.StagedFile // nil until there is something to write
	fault   error            // why the content could not be kept
	digest  hash.Hash
	size    int64  // bytes decoded, but for those in decoded
	decoded []byte // decoded[:used] are still to be written
	used    int

	quantum [4]byte // quantum[:held] are letters of a quantum not yet whole
	held    int
	ended   bool // there was padding: nothing may follow
}

// text takes a piece of base64 text in which line breaks were left out.
func (s *sink) text(piece []byte) error {
	if s.held > 0 {
		n := copy(s.quantum[s.held:], piece)
		s.held += n
		piece = piece[n:]
		if s.held < len(s.quantum) {
			return nil
		}
		s.held = 0
		if err := s.decode(s.quantum[:]); err != nil {
			return err
		}
	}
	whole := len(piece) &^ 3
	s.held = copy(s.quantum[:], piece[whole:])
	return s.decode(piece[:whole])
}

// decode decodes whole quanta.
func (s *sink) decode(quanta []byte) error {
	for len(quanta) > 0 {
		if s.ended {
			return ErrPayload
		}
		room := (len(s.decoded) - s.used) / 3 * 4
		if room == 0 {
			if err := s.flush(); err != nil {
				return err
			}
			continue
		}
		n := min(len(quanta), room)
		got, err := base64.StdEncoding.Decode(s.decoded[s.used:], quanta[:n])
		if err != nil {
			return ErrPayload
		}
		// Padding takes one byte or two off. More are off only where the decoder
		// has left out line breaks, and those are gone from the text already but
		// for such as JSON does not allow in it.
		off := n/4*3 - got
		if off > 2 {
			return ErrPayload
		}
		s.ended = off > 0
		s.used += got
		quanta = quanta[n:]
	}
	return nil
}

// finish says that the text has ended, and writes what is still to be written.
func (s *sink) finish() error {
	if s.held > 0 || s.size+int64(s.used) == 0 {
		return ErrPayload
	}
	return s.flush()
}

// flush writes the decoded bytes to the draft, up to the size that a file may
// have. What is above it is only counted: the order and the name are checked
// before the size (decision 6).
func (s *sink) flush() error {
	// Decoding keeps a processor busy as long as there is input. With more
	// uploads than processors everybody else would get a turn only when the
	// scheduler's ten milliseconds are over for each of them.
	runtime.Gosched()
	keep := s.decoded[:min(int64(s.used), max(order.MaxInvoiceSize-s.size, 0))]
	s.size += int64(s.used)
	s.used = 0
	if len(keep) == 0 {
		return nil
	}
	if err := s.write(keep); err != nil {
		s.fault = fmt.Errorf("keep the content of an upload: %w", err)
		return s.fault
	}
	_, _ = s.digest.Write(keep) // a digest takes everything
	return nil
}

// write writes to the draft, which it opens the first time.
func (s *sink) write(p []byte) error {
	if s.draft == nil {
		draft, err := s.open()
		if err != nil {
			return err
		}
		s.draft = draft
	}
	n, err := s.draft.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}

package invoiceapi

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// contentName is the member that holds the content of a file.
const contentName = "contentBase64"

// longestContentName is how long contentName can get with every letter written
// as \u and four digits.
const longestContentName = len(contentName) * 6

// diverter is a JSON text on its way to a decoder, out of which it takes the
// one text that is long: the decoder sees "" where the content stands, and the
// content goes to the sink in the large pieces in which it arrived.
//
// It follows the text just far enough to know where that is. This is safe with
// text that is no JSON too: all but the inside of that one text reaches the
// decoder, so up to there the two have seen the same, and the decoder refuses
// at that point or earlier whatever the diverter could have misread.
type diverter struct {
	body       *limitedBody
	sink       *sink
	buf        []byte
	next, end  int   // buf[next:end] was read and is still to be looked at
	err        error // of the body or the sink; final
	inText     bool
	afterSlash bool // in a text, after a \
	depth      int  // of objects and arrays
	atName     bool // in the outermost object, before the : of a member
	inContent  bool // in the text that is diverted

	isContent bool // the member at hand is the content
	// name[:nameLen] is the member's name as it is spelled, while it is read
	// and as long as it can be contentName. One byte more says that it cannot.
	name    [longestContentName + 1]byte
	nameLen int

	escape    [6]byte // escape[:escapeLen] is an escape in the content not yet whole
	escapeLen int
}

// Read implements io.Reader.
func (d *diverter) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if d.next == d.end {
			if n > 0 {
				break // the decoder need not wait for more
			}
			if err := d.fill(); err != nil {
				return 0, err
			}
		}
		if !d.inContent {
			n += d.pass(p[n:])
			continue
		}
		if err := d.divert(); err != nil {
			d.next, d.end, d.err = 0, 0, err
			return n, err
		}
	}
	return n, nil
}

// fill reads more of the body, which gives something or an error.
func (d *diverter) fill() error {
	if d.err != nil {
		return d.err
	}
	d.next = 0
	d.end, d.err = d.body.Read(d.buf)
	if d.end > 0 {
		return nil
	}
	return d.err
}

// pass hands text on to the decoder, to where the content begins at most, and
// returns how many bytes.
func (d *diverter) pass(p []byte) int {
	text := d.buf[d.next:d.end]
	text = text[:min(len(text), len(p))]
	n := 0
	for n < len(text) && !d.inContent {
		if c := text[n]; d.inText {
			d.insideText(c)
		} else {
			d.outsideText(c)
		}
		n++
	}
	d.next += copy(p, text[:n])
	return n
}

// outsideText follows one byte that is in no text.
func (d *diverter) outsideText(c byte) {
	switch c {
	case '{', '[':
		d.depth++
		d.atName = d.depth == 1
	case '}', ']':
		d.depth--
	case ',':
		d.atName = d.depth == 1
	case ':':
		d.atName = false
	case '"':
		d.inText = true
		if d.atName {
			d.nameLen = 0
		} else {
			// A second content is diverted too; the decoder refuses its name.
			d.inContent = d.depth == 1 && d.isContent
		}
	}
}

// insideText follows one byte that is in a text, or ends it.
func (d *diverter) insideText(c byte) {
	switch {
	case d.afterSlash:
		d.afterSlash = false
	case c == '\\':
		d.afterSlash = true
	case c == '"':
		d.inText = false
		if d.atName {
			d.isContent = isContentName(d.name[:d.nameLen])
		}
		return
	}
	if d.atName && d.nameLen < len(d.name) {
		d.name[d.nameLen] = c
		d.nameLen++
	}
}

// isContentName reports whether a member's name, as it is spelled between its
// quotes, is contentName.
func isContentName(spelled []byte) bool {
	if bytes.IndexByte(spelled, '\\') < 0 {
		return string(spelled) == contentName
	}
	quoted := append(append([]byte{'"'}, spelled...), '"')
	name, err := jsontext.AppendUnquote(nil, quoted)
	return err == nil && string(name) == contentName
}

// divert hands content on to the sink: all there is, or up to the quote that
// ends it, which is left for the decoder.
func (d *diverter) divert() error {
	text := d.buf[d.next:d.end]
	// No base64 has a quote in it: even an escaped one ends it, as an error.
	quote := bytes.IndexByte(text, '"')
	if quote >= 0 {
		text = text[:quote]
		d.inContent = false
	}
	d.next += len(text)
	plain, err := d.unescape(text)
	if err != nil {
		return err
	}
	if quote >= 0 && d.escapeLen > 0 {
		return ErrPayload
	}
	return d.sink.text(plain)
}

// unescape replaces the escapes in a piece of the content, in its own place,
// by what they stand for, and leaves out line breaks.
func (d *diverter) unescape(text []byte) ([]byte, error) {
	plain := text[:0]
	for len(text) > 0 {
		if d.escapeLen == 0 {
			slash := bytes.IndexByte(text, '\\')
			if slash < 0 {
				slash = len(text)
			}
			plain = append(plain, text[:slash]...)
			text = text[slash:]
			if len(text) == 0 {
				break
			}
		}
		// The rest of an escape may come with the next piece only.
		d.escape[d.escapeLen] = text[0]
		d.escapeLen++
		text = text[1:]
		if d.escapeLen < 2 || d.escape[1] == 'u' && d.escapeLen < len(d.escape) {
			continue
		}
		letter, ok := escaped(d.escape[1:d.escapeLen])
		if !ok {
			return nil, ErrPayload
		}
		d.escapeLen = 0
		if letter != '\r' && letter != '\n' {
			plain = append(plain, letter)
		}
	}
	return plain, nil
}

// escaped returns what an escape, without its \, stands for. It knows only
// those that base64 can have in it.
func escaped(escape []byte) (byte, bool) {
	switch escape[0] {
	case '/':
		return '/', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 'u':
		code, err := strconv.ParseUint(string(escape[1:]), 16, 7)
		return byte(code), err == nil
	}
	return 0, false
}

package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// mistaken are beginnings of bodies that are no JSON object, as beginners send them. The first
// match counts.
var mistaken = []struct{ begins, detail string }{
	{"\xef\xbb\xbf", "The body begins with a byte order mark: send UTF-8 without it."},
	{"\xff\xfe", "The body is UTF-16: send UTF-8."},
	{"\xfe\xff", "The body is UTF-16: send UTF-8."},
	{"\x00{", "The body is UTF-16: send UTF-8."},
	{"\x1f\x8b", "The body is compressed with gzip: send it as it is, without Content-Encoding."},
	{"\x28\xb5\x2f\xfd", "The body is compressed with zstd: send it as it is, without Content-Encoding."},
	{"%PDF", fileItself},
	{"\x89PNG", fileItself},
	{"\xff\xd8\xff", fileItself},
	{"--", "The body is multipart/form-data: send a JSON object."},
	{"<", "The body is XML or HTML: send a JSON object."},
	{"x\x01", deflated},
	{"x\x9c", deflated},
	{"x\xda", deflated},
	{"[object ", "The body is what JavaScript makes of an object as a text: send what JSON.stringify returns."},
	{"eyJ", "The body is base64: send the object itself."},
	{"%7B", "The body is percent-encoded: send the object itself."},
	{"[", "The body is an array: send one object."},
	{`"`, "The body is a JSON text, perhaps encoded twice: send the object itself."},
	{"'", "The body is in single quotes, perhaps those of a shell: send the object itself."},
}

const deflated = "The body is compressed with deflate: send it as it is, without Content-Encoding."

const fileItself = "The body is the file itself: send a JSON object with filename and, in base64, contentBase64."

var (
	formBody = regexp.MustCompile(`^[\w.%+\[\]-]{1,64}=`)
	// These are of the text from the place on that the decoder names.
	bareName   = regexp.MustCompile(`^[A-Za-z_]\w*\s*:`)
	lastComma  = regexp.MustCompile(`^,?\s*[}\],]`)
	otherQuote = regexp.MustCompile(`^(?:[“”„«»]|&quot;|&#34;)`)
	otherWord  = regexp.MustCompile(`^(?:NaN|-?Infinity|None|True|False|undefined|NULL|nil)\b`)
)

// inspected is how many bytes of a body are searched for mistakes.
const inspected = 4 << 10

// JSONProblem says what is wrong with a body that is no JSON object. err is what its decoder
// said; nil: it is valid JSON of another kind.
func JSONProblem(body []byte, err error) string {
	text := bytes.TrimLeft(body[:min(len(body), inspected)], " \t\r\n")
	if len(text) == 0 {
		return "The body is empty: send a JSON object."
	}
	for _, mistake := range mistaken {
		if bytes.HasPrefix(text, []byte(mistake.begins)) {
			return mistake.detail
		}
	}
	switch {
	case text[0] != '{' && formBody.Match(text):
		return "The body is a form: send a JSON object, with Content-Type: application/json."
	case text[0] != '{':
		return "The body is no JSON object: send one, in braces."
	case bytes.IndexByte(text, 0) >= 0:
		return "The body is UTF-16 or has NUL bytes: send UTF-8."
	}
	return SyntaxProblem(body, err)
}

// SyntaxProblem says what is wrong with a body that begins as JSON, of which its decoder said err.
func SyntaxProblem(body []byte, err error) string {
	syntactic, _ := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && syntactic != nil:
		return (&ParamError{Name: syntactic.JSONPointer.LastToken(), Problem: "is given twice", Hint: ": send it once"}).Detail()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "The JSON is cut: its last brace or quote is missing. Content-Length counts bytes, not characters."
	case syntactic != nil && strings.Contains(err.Error(), "UTF-8"):
		return "The JSON is not valid UTF-8: send UTF-8, not Windows-1253 or ISO 8859-7."
	case err != nil && strings.Contains(err.Error(), "after top-level value"):
		return "Something follows the JSON: send one object alone."
	case syntactic == nil:
		return "The JSON is not valid: " + Cure(nil, 0) + "."
	}
	return fmt.Sprintf("The JSON is not valid at its byte %d: %s.", syntactic.ByteOffset+1, Cure(body, syntactic.ByteOffset))
}

// Cure says how to mend JSON whose syntax is wrong from a byte on.
func Cure(text []byte, at int64) string {
	at = min(at, int64(len(text)))
	before, rest := bytes.TrimRight(text[:at], " \t\r\n"), text[at:]
	switch {
	case bytes.HasPrefix(rest, []byte("'")):
		return "write double quotes"
	case bareName.Match(rest):
		return "keys need double quotes"
	case (bytes.HasSuffix(before, []byte(",")) || bytes.HasPrefix(rest, []byte(","))) && lastComma.Match(rest):
		return "remove the comma"
	case otherQuote.Match(rest):
		return "keys and texts need plain double quotes, neither typographic ones nor those of HTML"
	case otherWord.Match(rest):
		return "it has no such word as NaN, None or True; values without quotes are numbers, true, false and null"
	case bytes.HasPrefix(rest, []byte(`\`)):
		return `a backslash in a text is written \\, or begins an escape such as \n`
	}
	return `let a JSON library write it, with texts in double quotes and every line break in them as \n`
}

// OtherLetters returns the ErrInvalidPayload of a name that is a known one in other letters; nil: it
// is none.
func OtherLetters(name string, known ...string) error {
	for _, meant := range known {
		if name != meant && strings.EqualFold(name, meant) {
			return Detail(ErrInvalidPayload, "The key is %s, in exactly these letters.", meant)
		}
	}
	return nil
}

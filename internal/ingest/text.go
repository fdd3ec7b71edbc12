package ingest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxTextLength is the longest text of a document, in characters (decision 7).
const MaxTextLength = 10_000

// checkTexts refuses a text that is too long, and one with a NUL character,
// which not every database can store. It looks at every text of a document
// that is known to be valid JSON, keys and extended attributes included.
func checkTexts(document []byte) *DocumentError {
	// Almost every document is too short to hold a text that is too long, and
	// a NUL can only be written as this escape.
	if len(document) <= MaxTextLength && !bytes.Contains(document, []byte(`\u0000`)) {
		return nil
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(document))
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return decodingError(document, err)
		}
		if token.Kind() != '"' {
			continue
		}
		if problem := textProblem(token.String()); problem != "" {
			return &DocumentError{Field: fieldName(decoder.StackPointer()), Problem: problem}
		}
	}
}

// textProblem says what is wrong with a text, empty when nothing is.
func textProblem(text string) string {
	if strings.IndexByte(text, 0) >= 0 {
		return "contains a NUL character"
	}
	if len(text) > MaxTextLength && utf8.RuneCountInString(text) > MaxTextLength {
		return "must have at most 10,000 characters"
	}
	return ""
}

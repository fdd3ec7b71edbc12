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

// checkTexts refuses texts that are too long or contain a NUL character, which
// PostgreSQL cannot store. It checks all texts of a document that is valid JSON,
// also keys and extended attributes.
func checkTexts(document []byte) *DocumentError {
	// Most documents are shorter than the longest text. JSON can write NUL only
	// as this escape.
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

// textProblem returns what is wrong with a text; empty if it is valid.
func textProblem(text string) string {
	if strings.IndexByte(text, 0) >= 0 {
		return "contains a NUL character"
	}
	if len(text) > MaxTextLength && utf8.RuneCountInString(text) > MaxTextLength {
		return "must have at most 10,000 characters"
	}
	return ""
}

package ingest

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/strict"
)

// DocumentError says why a document is invalid. It never contains a value of
// the document, since values are personal data.
type DocumentError struct {
	Field   string // as in "lineItems[0].quantity"; empty: the whole document
	Problem string // as in "must be 1 or more"
	hint    string // what an unknown key may mean, or how to mend the syntax; may be empty
}

// Error returns the field and its problem.
func (e *DocumentError) Error() string {
	if e.Field == "" {
		return e.Problem
	}
	return e.Field + ": " + e.Problem
}

// lineProblem returns what is wrong with a line, with what is right: it has no Error-Detail.
func lineProblem(err error) string {
	if detailed, ok := errors.AsType[strict.Detailed](err); ok {
		return strings.TrimSuffix(detailed.Detail(), ".")
	}
	return err.Error()
}

// Detail implements strict.Detailed.
func (e *DocumentError) Detail() string {
	return e.Error() + e.hint + "."
}

// noObject returns the error of a document that is not one JSON object.
func noObject(problem string) *DocumentError {
	return &DocumentError{Problem: "not a JSON object: " + problem}
}

// otherKind returns the error of a document that does not begin with "{".
func otherKind(text []byte) *DocumentError {
	value := jsontext.Value(text)
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return noObject("it begins with a byte order mark (U+FEFF); save it without one")
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return noObject("it is empty")
	}
	if !value.IsValid() {
		return noObject("it does not begin with {")
	}
	switch kind := value.Kind(); kind {
	case '[':
		return noObject("it is an array")
	case '"':
		return noObject("it is a text")
	case '0':
		return noObject("it is a number")
	default:
		return noObject("it is " + kind.String())
	}
}

// decodingError converts an error of the decoder.
func decodingError(text []byte, err error) *DocumentError {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		field := fieldName(semantic.JSONPointer)
		if errors.Is(semantic.Err, json.ErrUnknownName) {
			return &DocumentError{Field: field, Problem: "unknown key", hint: knownKeys(semantic)}
		}
		return &DocumentError{Field: field, Problem: typeProblem(semantic)}
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return syntaxError(text, syntactic)
	}
	return noObject("it cannot be read")
}

// fewKeys is how many keys an error lists.
const fewKeys = 8

// knownKeys returns the hint of an unknown key: the one that it may mean, or all if they are few.
func knownKeys(err *json.SemanticError) string {
	if err.GoType == nil || err.GoType.Kind() != reflect.Struct {
		return ""
	}
	var keys []string
	for _, field := range reflect.VisibleFields(err.GoType) {
		if key, _, _ := strings.Cut(field.Tag.Get("json"), ","); key != "" && key != "-" {
			keys = append(keys, key)
		}
	}
	if nearest := strict.Nearest(err.JSONPointer.LastToken(), keys...); nearest != "" {
		return "; the nearest one is " + nearest
	}
	if len(keys) > fewKeys {
		return ""
	}
	return "; known are " + strings.Join(keys, ", ")
}

// typeProblem returns which type a value of the wrong type must have.
func typeProblem(err *json.SemanticError) string {
	if err.GoType == nil {
		return "has the wrong type"
	}
	switch err.GoType.Kind() {
	case reflect.String:
		return "must be text"
	case reflect.Bool:
		return "must be true or false"
	case reflect.Slice:
		return "must be an array"
	case reflect.Struct:
		return "must be an object"
	case reflect.Int64:
		if errors.Is(err.Err, strconv.ErrRange) {
			return "must fit into 64 bits"
		}
		return "must be a whole number"
	}
	return "has the wrong type"
}

// syntaxError converts a syntax error. It names the field if only a key or a
// text is wrong (decision 7). It drops the decoder's message, which quotes the
// document.
func syntaxError(text []byte, err *jsontext.SyntacticError) *DocumentError {
	field := fieldName(err.JSONPointer)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return &DocumentError{Field: field, Problem: "the key is given twice"}
	}
	at := min(max(err.ByteOffset, 0), int64(len(text)))
	before, after := text[:at], text[at:]
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || len(after) == 0:
		return noObject("it ends too early")
	case field == "" && jsontext.Value(before).IsValid():
		return noObject("there is text after it")
	case field != "" && after[0] >= 0x80:
		return &DocumentError{Field: field, Problem: "invalid UTF-8"}
	case field != "" && bytes.HasPrefix(after, []byte(`\u`)):
		return &DocumentError{Field: field, Problem: "broken escape or half of a surrogate pair"}
	}
	problem := noObject("syntax error at byte " + strconv.FormatInt(at+1, 10))
	problem.hint = ": " + strict.Cure(text, at)
	return problem
}

// Limits of field names in messages, since keys come from the client.
const (
	maxFieldPart = 60  // bytes of one key
	maxFieldName = 200 // bytes of the whole
)

// fieldName converts a JSON pointer: /lineItems/0/ean is lineItems[0].ean.
func fieldName(pointer jsontext.Pointer) string {
	var name strings.Builder
	for part := range pointer.Tokens() {
		if name.Len() > maxFieldName {
			name.WriteString("...")
			break
		}
		index, isIndex := strconv.Atoi(part)
		switch {
		case isIndex == nil && index >= 0 && name.Len() > 0:
			name.WriteString("[" + part + "]")
			continue
		case name.Len() > 0:
			name.WriteByte('.')
		}
		name.WriteString(keyName(part))
	}
	return name.String()
}

// keyName returns a key, in quotes unless it is a plain word.
func keyName(key string) string {
	short := key
	if len(short) > maxFieldPart {
		short = strings.ToValidUTF8(short[:maxFieldPart], "") + "..."
	}
	plain := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
	}
	for i := range len(key) {
		if !plain(key[i]) {
			return strconv.QuoteToGraphic(short)
		}
	}
	if key == "" {
		return `""`
	}
	return short
}

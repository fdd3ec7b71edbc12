package ingest

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// maxNesting bounds the nesting of extended attributes, to protect the decoders
// of clients.
const maxNesting = 100

// noAttributes is the default of the extended attributes.
const noAttributes = "[]"

// attributes returns the extended attributes without insignificant white space.
func (r *reader) attributes(given jsontext.Value) json.RawMessage {
	switch given.Kind() {
	case '[':
	case 'n', jsontext.KindInvalid:
		return json.RawMessage(noAttributes)
	default:
		r.refuse("extendedAttributes", "must be an array")
		return nil
	}
	if nesting(given) > maxNesting {
		r.refuse("extendedAttributes", "must not be nested deeper than "+strconv.Itoa(maxNesting)+" levels")
		return nil
	}
	if err := given.Compact(); err != nil {
		r.refuse("extendedAttributes", "must be JSON")
		return nil
	}
	return json.RawMessage(given)
}

// nesting returns how many levels of arrays and objects a JSON value has.
func nesting(value []byte) int {
	level, deepest := 0, 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '"':
			i += quotedLength(value[i:]) - 1
		case '[', '{':
			level++
			deepest = max(deepest, level)
		case ']', '}':
			level--
		}
	}
	return deepest
}

// values returns how many members and elements a JSON value has at least: a comma is
// between two, and an array or object that is one begins with a bracket or brace.
func values(text []byte) int {
	commas, opened := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += quotedLength(text[i:]) - 1
		case ',':
			commas++
		case '[', '{':
			opened++
		}
	}
	return max(commas, opened)
}

// quotedLength returns the length of the JSON string at the start of b, with its
// quotes.
func quotedLength(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// canonicalAttributes returns extended attributes in canonical form: no white
// space, sorted keys, strings with the fewest escapes, numbers as in
// canonicalNumber. Equal attributes have one canonical form.
func canonicalAttributes(attributes []byte) []byte {
	if len(attributes) <= len(noAttributes) {
		return []byte(noAttributes)
	}
	value := jsontext.Value(attributes).Clone()
	// The library would format numbers as 64-bit floating point, which makes
	// different numbers equal. canonicalNumber does not.
	err := value.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		value = attributes
	}
	canonical := make([]byte, 0, len(value))
	for len(value) > 0 {
		length := 1
		switch c := value[0]; {
		case c == '"':
			length = quotedLength(value)
			canonical = append(canonical, value[:length]...)
		case c == '-' || c >= '0' && c <= '9':
			length = numberLength(value)
			canonical = append(canonical, canonicalNumber(string(value[:length]))...)
		default:
			canonical = append(canonical, c)
		}
		value = value[length:]
	}
	return canonical
}

// numberLength returns the length of the JSON number at the start of b.
func numberLength(b []byte) int {
	rest := bytes.TrimLeft(b, "0123456789+-.eE")
	return len(b) - len(rest)
}

// canonicalNumber returns the canonical form of a JSON number of any size and
// precision: its digits without zeros at either end, then the power of ten. 1200
// and 1.20e3 are "12e2".
func canonicalNumber(number string) string {
	digits := make([]byte, 0, len(number))
	power := int64(0)
	point := false
	for i := range len(number) {
		switch c := number[i]; c {
		case '-':
		case '.':
			point = true
		case 'e', 'E':
			exponent, err := strconv.ParseInt(number[i+1:], 10, 32)
			if err != nil {
				// The exponent is too large to compute with: keep the spelling.
				return number
			}
			return joinNumber(number[0] == '-', digits, power+exponent)
		default:
			digits = append(digits, c)
			if point {
				power--
			}
		}
	}
	return joinNumber(number[0] == '-', digits, power)
}

// joinNumber returns a number in the form of canonicalNumber.
func joinNumber(negative bool, digits []byte, power int64) string {
	digits = bytes.TrimLeft(digits, "0")
	if len(digits) == 0 {
		return "0"
	}
	significant := bytes.TrimRight(digits, "0")
	power += int64(len(digits) - len(significant))
	sign := ""
	if negative {
		sign = "-"
	}
	return sign + string(significant) + "e" + strconv.FormatInt(power, 10)
}

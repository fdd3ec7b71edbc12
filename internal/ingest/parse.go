package ingest

import (
	"math"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
)

// strict has the decoder refuse unknown keys. By itself it refuses equal keys,
// keys in another letter case, invalid UTF-8, half surrogate pairs and text
// after the document.
var strict = json.RejectUnknownMembers(true)

// Parse reads one order document and fills in its defaults. Any refusal is a
// *DocumentError. The document is not kept and may be used again. Parse may be
// called from several goroutines.
func Parse(text []byte) (order.Incoming, error) {
	if jsontext.Value(text).Kind() != '{' {
		return order.Incoming{}, otherKind(text)
	}
	var doc document
	if err := json.Unmarshal(text, &doc, strict); err != nil {
		return order.Incoming{}, decodingError(text, err)
	}
	if problem := checkTexts(text); problem != nil {
		return order.Incoming{}, problem
	}
	r := reading{line: -1}
	in := order.Incoming{Order: r.order(&doc)}
	if r.problem != nil {
		return order.Incoming{}, r.problem
	}
	in.Digest = digest(&in.Order)
	return in, nil
}

// reading turns a decoded document into an order. It goes on after a problem
// and keeps the first.
type reading struct {
	line    int // index of the line item being read; -1: none
	problem *DocumentError
}

// refuse notes a problem with a field of the document, or of the line item
// being read.
func (r *reading) refuse(field, problem string) {
	if r.problem != nil {
		return
	}
	if r.line >= 0 {
		field = "lineItems[" + strconv.Itoa(r.line) + "]." + field
	}
	r.problem = &DocumentError{Field: field, Problem: problem}
}

// required returns a number that must be given and be at least a least one.
func (r *reading) required(field string, given *int64, least int64) int64 {
	if given == nil {
		r.refuse(field, "is required")
		return 0
	}
	return r.optional(field, given, 0, least)
}

// optional returns a number that must be at least a least one, or its default.
func (r *reading) optional(field string, given *int64, absent, least int64) int64 {
	if given == nil {
		return absent
	}
	if *given < least {
		r.refuse(field, "must be "+strconv.FormatInt(least, 10)+" or more")
	}
	return *given
}

// computed returns a number that follows from others; where it is given it
// must be the same.
func (r *reading) computed(field string, given *int64, value int64, rule string) int64 {
	if given != nil && *given != value {
		r.refuse(field, rule)
	}
	return value
}

// sum adds amounts that are not negative and reports whether the result fits.
func sum(a, b int64) (int64, bool) {
	return a + b, a <= math.MaxInt64-b
}

// product multiplies amounts that are not negative and reports whether the
// result fits.
func product(a, b int64) (int64, bool) {
	return a * b, b == 0 || a <= math.MaxInt64/b
}

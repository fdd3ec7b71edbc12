// Package ingest reads the order document of decision 7, the only form in which
// the service accepts orders, and inputs with one document or one change of an order a
// line: Lines parses them, handles them in batches and says what became of each line.
//
// Parsing is strict: anything ambiguous is invalid, with a message that names
// the field. Parse also fills in the defaults. The digest covers the result, so
// two spellings of the same content have the same digest.
//
// The package does not know where documents come from or where orders are
// stored. The store checks whether the merchant exists and whether a reference
// is taken.
package ingest

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
	"merchantorders/internal/orderpb"
)

// knownOnly makes the decoder refuse unknown keys. By default it refuses duplicate
// keys, keys in another letter case, invalid UTF-8, lone surrogates and text
// after the document.
var knownOnly = json.RejectUnknownMembers(true)

// maxValues bounds the members and elements of a document, of nearly 2,000 line items with
// every field. They cost more than their bytes: the decoder remembers the names of
// members to find duplicates, also in values that are refused.
const maxValues = 50_000

// Parse reads one order document and fills in its defaults. It returns a
// *DocumentError if the document is invalid. The result does not refer to text.
func Parse(text []byte) (order.Incoming, error) {
	if len(text) > maxValues && values(text) > maxValues {
		return order.Incoming{}, &DocumentError{Problem: "has more than 50,000 members and elements"}
	}
	var doc document
	if err := decode(text, &doc); err != nil {
		return order.Incoming{}, err
	}
	if problem := checkTexts(text); problem != nil {
		return order.Incoming{}, problem
	}
	r := reader{line: -1}
	in := order.Incoming{Order: r.order(&doc)}
	if err := r.err(); err != nil {
		return order.Incoming{}, err
	}
	in.Digest = orderpb.Digest(&in.Order, canonicalAttributes)
	// After the digest, so that a document with spaces is the one that an earlier version has
	// stored with them.
	in.Order.Customer.Email = order.TrimEmail(in.Order.Customer.Email)
	return in, nil
}

// decode decodes an object. It returns a *DocumentError if the text is no object, or not
// one with the members of into.
func decode(text []byte, into any, options ...json.Options) error {
	if jsontext.Value(text).Kind() != '{' {
		return otherKind(text)
	}
	if err := json.Unmarshal(text, into, append(options, knownOnly)...); err != nil {
		return decodingError(text, err)
	}
	return nil
}

// reader converts a decoded document to an order. It continues after a problem. It
// records all required fields that are absent, and the first of the other problems.
type reader struct {
	line    int // index of the current line item; -1: none
	absent  []DocumentError
	problem *DocumentError
}

// name returns the name of a field of the current line item, or of the document if
// there is none.
func (r *reader) name(field string) string {
	if r.line < 0 {
		return field
	}
	return "lineItems[" + strconv.Itoa(r.line) + "]." + field
}

// refuse records a problem with a field that is given.
func (r *reader) refuse(field, problem string) {
	if r.problem == nil {
		r.problem = &DocumentError{Field: r.name(field), Problem: problem}
	}
}

// require records that a field must be given. problem is how the error says it if no
// other field is absent.
func (r *reader) require(field, problem string) {
	r.absent = append(r.absent, DocumentError{Field: r.name(field), Problem: problem})
}

// refused reports whether the document is invalid.
func (r *reader) refused() bool { return len(r.absent) > 0 || r.problem != nil }

// maxAbsent bounds the absent fields that an error names.
const maxAbsent = 20

// err returns a *DocumentError if the document is invalid. It names all absent fields
// at once: who writes a first document would otherwise try once for each.
func (r *reader) err() error {
	switch {
	case len(r.absent) > 1:
		var names []string
		for _, field := range r.absent[:min(len(r.absent), maxAbsent)] {
			names = append(names, field.Field)
		}
		if more := len(r.absent) - maxAbsent; more > 0 {
			names = append(names, strconv.Itoa(more)+" more")
		}
		return &DocumentError{Field: strings.Join(names, ", "), Problem: "are required"}
	case len(r.absent) == 1:
		return &r.absent[0]
	case r.problem != nil:
		return r.problem
	}
	return nil
}

// required returns a number of at least least. The field must be present.
func (r *reader) required(field string, given *int64, least int64) int64 {
	if given == nil {
		r.require(field, "is required")
		return 0
	}
	return r.optional(field, given, 0, least)
}

// optional returns a number of at least least, or absent if it is not given.
func (r *reader) optional(field string, given *int64, absent, least int64) int64 {
	if given == nil {
		return absent
	}
	if *given < least {
		r.refuse(field, "must be "+strconv.FormatInt(least, 10)+" or more")
	}
	return *given
}

// id returns an id, which may be absent: then it is 0.
func (r *reader) id(field string, given *int64, least int64) int64 {
	id := r.optional(field, given, 0, least)
	if id > order.MaxID {
		r.refuse(field, "must be "+strconv.FormatInt(order.MaxID, 10)+" or less: many JSON readers lose digits of larger numbers")
	}
	return id
}

// computed returns value, which follows from other fields. A given number must
// be equal to it.
func (r *reader) computed(field string, given *int64, value int64, rule string) int64 {
	if given != nil && *given != value {
		r.refuse(field, rule)
	}
	return value
}

// timestamp returns a time in whole seconds of UTC; the zero time if absent.
func (r *reader) timestamp(field string, given *string) time.Time {
	if given == nil {
		return time.Time{}
	}
	t, ok := order.ParseTime(*given)
	if !ok {
		r.refuse(field, "must be a time as in 2026-11-20T08:15:30Z")
	}
	return t
}

// requiredTimestamp is timestamp for a field that must be present.
func (r *reader) requiredTimestamp(field string, given *string) time.Time {
	if given == nil {
		r.require(field, "is required")
	}
	return r.timestamp(field, given)
}

// day returns a day; NoDay if absent or empty.
func (r *reader) day(field string, given *string) order.Day {
	if given == nil || *given == "" {
		return order.NoDay
	}
	day, ok := order.ParseDay(*given)
	if !ok {
		r.refuse(field, "must be a day as in 2026-11-20")
	}
	return day
}

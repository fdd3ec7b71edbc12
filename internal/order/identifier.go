package order

import (
	"slices"
	"strconv"
	"strings"
)

// MaxReferenceLength is the longest order reference, in bytes (decision 7).
const MaxReferenceLength = 64

// Identifier identifies an order of a merchant by its legacy id (v1) or by its
// reference (v2). The zero Identifier identifies no order.
type Identifier struct {
	LegacyID  int64  // positive; 0: identify by Reference
	Reference string // empty: identify by LegacyID
}

// ByLegacyID identifies an order by its legacy id.
func ByLegacyID(id int64) Identifier { return Identifier{LegacyID: id} }

// ByReference identifies an order by its reference.
func ByReference(reference string) Identifier { return Identifier{Reference: reference} }

// Locator says where an order is stored, whoever asks. It identifies no order of another
// merchant, although legacy ids are unique in the service.
type Locator struct{ MerchantID, LegacyID int64 }

// Valid reports whether an order with this identifier could exist. Only a valid
// identifier may reach the database: for a NUL or invalid UTF-8 in a text
// PostgreSQL returns an error, where SQLite finds no row.
func (id Identifier) Valid() bool {
	if id.Reference != "" {
		return ValidReference(id.Reference)
	}
	return id.LegacyID > 0
}

// ReservedReferences are words that the interfaces have where others have the reference
// of an order, as in /v2/orders/export.
var ReservedReferences = []string{"answers", "by-merchant-reference", "export", "import", "transitions", "unanswered", "without-invoice"}

// ValidReference reports whether text is 1 to 64 of A-Z a-z 0-9 . _ -, begins with a
// letter or digit (decision 7), and is none of ReservedReferences.
func ValidReference(text string) bool {
	if text == "" || len(text) > MaxReferenceLength || slices.Contains(ReservedReferences, text) {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case (c == '.' || c == '_' || c == '-') && i > 0:
		default:
			return false
		}
	}
	return true
}

// MaxID is the highest id that is given to an order or a line item: beyond it
// JavaScript and others that read numbers as floating point lose digits, and take one order
// for another.
const MaxID = 1<<53 - 1

// ParseID parses a positive integer in plain digits, without sign or leading
// zero. ok reports whether the text has that form. A number that does not fit
// into 64 bits has the form, but id is 0 then, which identifies nothing.
func ParseID(text string) (id int64, ok bool) {
	if text == "" || text[0] == '0' || strings.ContainsFunc(text, func(c rune) bool { return c < '0' || c > '9' }) {
		return 0, false
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, true
	}
	return id, true
}

package order

import "strconv"

// MaxReferenceLength is the longest order reference, in bytes (decision 7).
const MaxReferenceLength = 64

// IdempotencyKey names one order of a merchant: by its number (v1) or by its reference
// (v2). The zero Key names no order.
type Identifier struct {
	LegacyID  int64  // positive; 0: the key is a reference
	Reference string // empty: the key is a number
}

// ByLegacyID names an order by its legacy number.
func ByLegacyID(number int64) Identifier { return Identifier{LegacyID: number} }

// ByReference names an order by its reference.
func ByReference(reference string) Identifier { return Identifier{Reference: reference} }

// Valid reports whether an order with this key could exist. Only a valid key
// may reach the database: PostgreSQL refuses a NUL or broken UTF-8 in a text
// with an error, where SQLite finds nothing.
func (k Identifier) Valid() bool {
	if k.Reference != "" {
		return ValidReference(k.Reference)
	}
	return k.LegacyID > 0
}

// ValidReference reports whether text is 1 to 64 of A-Z a-z 0-9 . _ - and
// begins with a letter or digit (decision 7).
func ValidReference(text string) bool {
	if text == "" || len(text) > MaxReferenceLength {
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

// ParseID reads a positive identifier in plain digits: no sign, no leading
// zero. ok says whether the text has that form; an identifier beyond 64 bits
// has, but comes back as 0, which nothing is called.
func ParseID(text string) (id int64, ok bool) {
	if text == "" || text[0] == '0' {
		return 0, false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, true
	}
	return id, true
}

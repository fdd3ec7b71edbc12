package client

import (
	"crypto/rand"
	"unicode"
)

// harmless replaces what does things to a terminal or a log instead of being
// shown: control characters, line ends and marks of writing direction.
func harmless(r rune) rune {
	if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
		return ' '
	}
	return r
}

// newID returns a new random identifier: 26 capital letters and digits.
func newID() string { return rand.Text() }

const maxRequestID = 64 // characters

// plainID reports whether a text has the form of a request id.
func plainID(text string) bool {
	for _, c := range []byte(text) {
		plain := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '_' || c == '.'
		if !plain {
			return false
		}
	}
	return text != "" && len(text) <= maxRequestID
}

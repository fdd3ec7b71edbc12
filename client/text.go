package client

import (
	"crypto/rand"
	"unicode"
)

// printable replaces control characters, line ends and direction marks by spaces,
// since they can disguise text on a terminal or in a log.
func printable(r rune) rune {
	if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
		return ' '
	}
	return r
}

// newID returns a random identifier of 26 capital letters and digits.
func newID() string { return rand.Text() }

const maxRequestID = 64 // characters

// validRequestID reports whether a text has the form of a request id.
func validRequestID(text string) bool {
	for _, c := range []byte(text) {
		plain := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '_' || c == '.'
		if !plain {
			return false
		}
	}
	return text != "" && len(text) <= maxRequestID
}

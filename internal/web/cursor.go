package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// cursorChecksumLength is how many bytes of a hash bind a cursor to its list. The hash
// catches mistakes. It is no secret: a cursor gives no access to anything.
const cursorChecksumLength = 8

// EncodeCursor returns the text of a cursor: numbers that say where a page of a list
// ended. list is what identifies the list, such as its filters: the cursor is not valid
// for another one. Empty: the cursor is valid for any list.
func EncodeCursor(list string, numbers ...int64) string {
	var body []byte
	for _, n := range numbers {
		body = binary.AppendVarint(body, n)
	}
	return base64.RawURLEncoding.EncodeToString(append(body, cursorChecksum(body, list)...))
}

// DecodeCursor sets numbers to those of a cursor. It reports whether the text is a
// cursor of the list with as many numbers.
func DecodeCursor(text, list string, numbers ...*int64) bool {
	body, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return false
	}
	if list != "" {
		end := len(body) - cursorChecksumLength
		if end < 0 || string(cursorChecksum(body[:end], list)) != string(body[end:]) {
			return false
		}
		body = body[:end]
	}
	for _, number := range numbers {
		n, length := binary.Varint(body)
		if length <= 0 {
			return false
		}
		*number, body = n, body[length:]
	}
	return len(body) == 0
}

// cursorChecksum returns the end of a cursor; nil if it is valid for any list.
func cursorChecksum(body []byte, list string) []byte {
	if list == "" {
		return nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %s", body, list))
	return sum[:cursorChecksumLength]
}

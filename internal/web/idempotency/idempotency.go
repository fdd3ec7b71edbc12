// Package idempotency reads Idempotency-Key headers, identifies repeated requests
// by a digest, and encodes the responses that are recorded for them.
package idempotency

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"net/http"
)

// The headers of requests with a key and of replayed responses.
const (
	KeyHeader      = "Idempotency-Key"
	ReplayedHeader = "Idempotent-Replayed" // "true" in a replayed response
)

// maxKeyLength is the length of the longest key, in bytes.
const maxKeyLength = 255

// ParseKey returns the key of a request, empty if there is none. The text of an
// error follows the name of the header in a sentence.
func ParseKey(h http.Header) (string, error) {
	values := h.Values(KeyHeader)
	switch len(values) {
	case 0:
		return "", nil
	case 1:
	default:
		return "", errors.New("is given twice")
	}
	key := values[0]
	valid := key != "" && len(key) <= maxKeyLength
	for _, c := range []byte(key) {
		valid = valid && c >= ' ' && c <= '~'
	}
	if !valid {
		return "", fmt.Errorf("must be 1 to %d printable ASCII characters", maxKeyLength)
	}
	return key, nil
}

// Digest identifies a request among those with the same key: by method, path, query,
// If-Match and the part of the body that the handler has read. body is the hash
// of that part; nil: the request has no body.
func Digest(r *http.Request, body hash.Hash) [sha256.Size]byte {
	if body == nil {
		body = sha256.New()
	}
	whole := sha256.New()
	// Quoted, so that no two different requests are written alike.
	_, _ = fmt.Fprintf(whole, "%s %q %q\n", r.Method, r.URL.Path, r.Header.Values("If-Match"))
	if r.URL.RawQuery != "" { // digests without one are those of 1.0.0
		_, _ = fmt.Fprintf(whole, "?%s\n", r.URL.Query().Encode())
	}
	_, _ = whole.Write(body.Sum(nil)) // a hash never returns an error
	return [sha256.Size]byte(whole.Sum(nil))
}

// Recordable reports whether a response with a status is recorded: every
// response to what was requested. Not recorded are refusals of who sends or when,
// and failures of the service: the client repeats those requests.
func Recordable(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return status < http.StatusInternalServerError
}

// Record is a recorded response. The JSON form is stored: its names never change.
type Record struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// Encode returns the stored form of a record.
func (r Record) Encode() ([]byte, error) { return json.Marshal(r) }

// Decode reads the stored form of a record.
func Decode(stored []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(stored, &r); err != nil {
		return Record{}, fmt.Errorf("decode a recorded response: %w", err)
	}
	return r, nil
}

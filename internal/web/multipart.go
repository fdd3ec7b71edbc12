package web

import (
	"hash"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	"merchantorders/internal/strict"
)

// multipartForm is the media type of forms with files.
const multipartForm = "multipart/form-data"

// maxBoundary is the longest boundary between the parts of a form, in bytes (RFC 2046).
const maxBoundary = 70

// IsMultipart reports whether a Content-Type is that of a form with files.
func IsMultipart(contentType string) bool {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	return mediaType == multipartForm
}

// ErrFormType is the error of a form without the type of one.
var ErrFormType = strict.Detail(strict.ErrInvalidPayload, "Content-Type must be multipart/form-data with a boundary of 1 to 70 characters: let the library that writes the form set it.")

// FormParts returns a reader of the parts of a body that is a form with files, or
// ErrFormType. The reader returns io.EOF after the last boundary only.
func FormParts(contentType string, body io.Reader) (*multipart.Reader, error) {
	mediaType, params, err := mime.ParseMediaType(contentType)
	boundary := params["boundary"]
	if err != nil || mediaType != multipartForm || boundary == "" || len(boundary) > maxBoundary {
		return nil, ErrFormType
	}
	// A multipart.Reader takes an end in the headers of a part for that of the form.
	return multipart.NewReader(io.MultiReader(body, strings.NewReader("\r\n"), cut{}), boundary), nil
}

// cut follows a body, of which a reader needs no more after the last boundary.
type cut struct{}

// Read implements io.Reader.
func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// DigestAs makes a hash of what the body says the digest by which the Idempotency-Key
// recognizes it: a client that repeats a form writes another boundary.
func (r *Request) DigestAs(digest hash.Hash) {
	if body := requestBodyOf(r.Request); body != nil && body.digest != nil {
		body.digest = digest
	}
}

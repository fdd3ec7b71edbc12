package web

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
)

// FormHandler serves a form that a person has sent. A form has the field key, its
// idempotency key, and revision if it was made from an order that must not have changed
// since. The handler calls the service with the Caller of the request
// and with FormOptions.
type FormHandler func(w http.ResponseWriter, r *Request, form url.Values) error

// ReadForm reads a form of at most limit bytes, or returns strict.ErrInvalidPayload.
func ReadForm(r *Request, limit int64) (url.Values, error) {
	body, err := ReadBody(r, limit)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, strict.ErrInvalidPayload
	}
	return form, nil
}

// serveForm returns the handler of a form of at most limit bytes.
func serveForm(limit int64, handle FormHandler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		form, err := ReadForm(r, limit)
		if err != nil {
			return err
		}
		if err := r.SetForm(form); err != nil {
			return err
		}
		return handle(w, r, form)
	}
}

// OfRevision returns the handler of a form that must have a revision.
func (handle FormHandler) OfRevision() FormHandler {
	return func(w http.ResponseWriter, r *Request, form url.Values) error {
		if r.write.matches == nil {
			return strict.ErrInvalidPayload
		}
		return handle(w, r, form)
	}
}

// formKey is the form of the field key.
var formKey = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// SetForm makes the fields of a form those of the request. It returns strict.ErrInvalidPayload
// if the key or the revision is malformed.
func (r *Request) SetForm(form url.Values) error {
	r.write = &write{digest: func() [sha256.Size]byte { return sha256.Sum256([]byte(r.URL.Path + "\n" + form.Encode())) }}
	key := form.Get("key")
	if !formKey.MatchString(key) {
		return strict.ErrInvalidPayload
	}
	r.write.key = "console-" + key
	if text := form.Get("revision"); text != "" {
		revision, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return strict.ErrInvalidPayload
		}
		r.write.matches = func(o order.LockedOrder) bool { return o.Revision == revision }
	}
	return nil
}

// formDone is what is recorded for the key of a form whose change was made.
var formDone = []byte("done")

// FormOptions returns the options of the change with the result T that a form asks for.
// A form that makes several changes names the part for each: every part has a key of its
// own, which does not depend on the other parts. A form that is sent twice makes its
// change once, and the service returns *order.ReplayError the second time. After a refusal
// the key is free again.
func FormOptions[T any](r *Request, part ...string) order.Options[T] {
	w := r.write
	options := order.Options[T]{IfMatch: w.matches, Key: w.orderKey(), Record: func(_ T, refusal error) ([]byte, error) {
		if refusal != nil {
			return nil, nil
		}
		return formDone, nil
	}}
	if len(part) > 0 {
		options.Key.Digest = sha256.Sum256(fmt.Appendf(nil, "%q %q", r.URL.Path, part))
		options.Key.Text += fmt.Sprintf("-%x", options.Key.Digest[:16])
	}
	return options
}

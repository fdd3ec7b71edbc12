package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"

	"merchantorders/internal/order"
)

// The header fields of an attempt. The last one is in answers that are given
// again.
const (
	ifMatch        = "If-Match"
	idempotencyKey = "Idempotency-Key"
	replayed       = "Idempotent-Replayed"
)

// maxKey is the longest Idempotency-Key, in bytes.
const maxKey = 255

// Refuser keeps the answers to requests that were refused before they came to a
// change; order.Service.RecordRefusal is one.
type Refuser interface {
	RecordRefusal(ctx context.Context, merchantID int64, attempt order.WriteOptions, refusal error) error
}

// attempt is what a request that changes something asks beside the change.
type attempt struct {
	r      *http.Request
	form   ErrorEncoder
	tags   *EntityTags  // of If-Match; nil: none
	key    string // empty: none
	handed bool   // to the service, which sees to the answer from there on
}

type attemptKey struct{}

// attemptOf returns the attempt that a request is; nil where nobody asked.
func attemptOf(r *http.Request) *attempt {
	a, _ := r.Context().Value(attemptKey{}).(*attempt)
	return a
}

// attempted has a handler's requests keep to their If-Match and Idempotency-Key.
// The handler makes its change through a Change.
func attempted(refuser Refuser, form ErrorEncoder, handle Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		key, err := parseKey(r.Header)
		if err != nil {
			return err
		}
		a := &attempt{form: form, key: key}
		a.r = r.WithContext(context.WithValue(r.Context(), attemptKey{}, a))
		if body := requestBodyOf(r); body != nil && key != "" {
			body.digest = sha256.New()
		}
		if a.tags, err = ParseEntityTags(r.Header, ifMatch); err == nil {
			err = handle(w, a.r)
		}
		if err != nil && a.refusedForItsForm(err) {
			err = refuser.RecordRefusal(r.Context(), MerchantID(r), a.order(a.refusal), err)
		}
		var repeated *order.ReplayError
		if errors.As(err, &repeated) {
			return replay(w, repeated.Response)
		}
		return err
	}
}

// refusedForItsForm reports whether an error is the answer to all of the request,
// and the service has not seen it. Of a body that was cut off on its way nobody
// knows what it asked for: it is sent again.
func (a *attempt) refusedForItsForm(err error) bool {
	if a.key == "" || a.handed {
		return false
	}
	if body := requestBodyOf(a.r); body != nil && body.broken {
		return false
	}
	status, _ := a.form(a.r, err)
	return recordable(status)
}

// parseKey reads the Idempotency-Key, empty when there is none.
func parseKey(h http.Header) (string, error) {
	given := h.Values(idempotencyKey)
	switch len(given) {
	case 0:
		return "", nil
	case 1:
	default:
		return "", &ParamError{Name: idempotencyKey, Problem: "is given twice"}
	}
	key := given[0]
	ok := key != "" && len(key) <= maxKey
	for _, c := range []byte(key) {
		ok = ok && c >= ' ' && c <= '~'
	}
	if !ok {
		return "", &ParamError{Name: idempotencyKey, Problem: "must be 1 to 255 printable ASCII characters"}
	}
	return key, nil
}

// order returns the attempt as the domain knows it. The body must have been read
// by now, as far as it is looked at. answer is as in order.WriteOptions.
func (a *attempt) order(answer func(order.WriteResult, error) ([]byte, error)) order.WriteOptions {
	if a == nil {
		return order.WriteOptions{}
	}
	asked := order.WriteOptions{IdempotencyKey: a.key}
	if a.tags != nil {
		asked.IfMatch = func(head order.LockedOrder) bool { return a.tags.Match(OrderTag(head.LegacyID, head.Revision)) }
	}
	if a.key != "" {
		asked.RequestDigest, asked.Response = a.digest(), answer
	}
	return asked
}

// digest is that of all that makes one request another than the next: method,
// path, If-Match and body. With another If-Match it asks for something else.
func (a *attempt) digest() [sha256.Size]byte {
	whole := sha256.New()
	// Quoted, so that no text can run into the next.
	_, _ = fmt.Fprintf(whole, "%s %q %q\n", a.r.Method, a.r.URL.Path, a.r.Header.Values(ifMatch))
	if body := requestBodyOf(a.r); body != nil {
		_, _ = whole.Write(body.digest.Sum(nil))
	} else {
		nothing := sha256.Sum256(nil)
		_, _ = whole.Write(nothing[:])
	}
	return [sha256.Size]byte(whole.Sum(nil))
}

// refusal writes the answer to a refusal, nil where it is not to be kept.
func (a *attempt) refusal(_ order.WriteResult, refusal error) ([]byte, error) {
	status, body := a.form(a.r, refusal)
	if !recordable(status) {
		return nil, nil
	}
	kept := newKeptAnswer()
	setErrorHeaders(kept.Header(), refusal, status)
	if err := WriteJSON(kept, status, body); err != nil {
		return nil, err
	}
	return kept.encode()
}

// keepable reports whether a refusal is for what was asked, and not for who
// asked, or when.
func recordable(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return status >= http.StatusBadRequest && status < http.StatusInternalServerError
}

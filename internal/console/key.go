package console

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// newKey returns an idempotency key for a form: a form that is sent twice, by a double
// click, does a thing once.
func newKey() string { return rand.Text() }

var keyForm = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// done is what is recorded for the key of a form whose change was made.
var done = []byte("done")

// formKey returns the idempotency key of a form and the digest of what the form asks
// for. what names the change with everything that it depends on.
func formKey(form url.Values, what ...string) (key string, request [sha256.Size]byte, err error) {
	key = form.Get("key")
	if !keyForm.MatchString(key) {
		return "", request, web.ErrInvalidPayload
	}
	digest := sha256.New()
	for _, text := range what {
		_, _ = digest.Write([]byte(strconv.Itoa(len(text)) + ":" + text)) // a hash never returns an error
	}
	digest.Sum(request[:0])
	return "console-" + key, request, nil
}

// recordDone is the Response of the options of a change. After a refusal the key is
// free again: the same form may be sent later.
func recordDone[T any](_ T, refusal error) ([]byte, error) {
	if refusal != nil {
		return nil, nil
	}
	return done, nil
}

// changeOptions returns the options of a change that is not of an order; see formKey.
func changeOptions[T any](s *site, r *request, form url.Values, what ...string) (order.ChangeOptions[T], error) {
	key, digest, err := formKey(form, what...)
	return order.ChangeOptions[T]{
		Source: web.Source(r.Request), Idempotency: s.Orders.Idempotency(r.grant.MerchantID, key, digest), Response: recordDone[T],
	}, err
}

// writeOptions returns the options of a change of an order; see formKey. With match,
// the order must have the revision that the form was made from.
func writeOptions(r *http.Request, form url.Values, match bool, what ...string) (order.WriteOptions, error) {
	options := order.WriteOptions{Source: web.Source(r), Response: recordDone[order.WriteResult]}
	var err error
	if options.IdempotencyKey, options.RequestDigest, err = formKey(form, what...); err != nil {
		return options, err
	}
	if match {
		revision, err := strconv.ParseInt(form.Get("revision"), 10, 64)
		if err != nil {
			return options, web.ErrInvalidPayload
		}
		options.IfMatch = func(o order.LockedOrder) bool { return o.Revision == revision }
	}
	return options, nil
}

// replayed returns nil for the error of a form that was sent before and did its thing.
func replayed(err error) error {
	var replay *order.ReplayError
	if errors.As(err, &replay) {
		return nil
	}
	return err
}

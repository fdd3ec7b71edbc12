package console

import (
	"crypto/rand"
	"errors"

	"merchantorders/internal/order"
)

// newKey returns an idempotency key for the field key of a form: a form that is sent
// twice, by a double click, does a thing once. Package web reads the field.
func newKey() string { return rand.Text() }

// replayed returns nil for the error of a form that was sent before and did its thing.
func replayed(err error) error {
	if errors.As(err, new(*order.ReplayError)) {
		return nil
	}
	return err
}

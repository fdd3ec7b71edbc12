package order

import "slices"

// Reason is the reason for a rejection. Empty: none given.
type Reason string

// Reasons are the allowed reasons (spec 4.1).
var Reasons = []Reason{"out-of-stock", "damaged", "wrong-price", "disabled-product", "wrong-product"}

// Valid reports whether r is empty or one of the allowed reasons.
func (r Reason) Valid() bool {
	return r == "" || slices.Contains(Reasons, r)
}

package order

// Reason is why a merchant rejects an order. Empty: none given.
type Reason string

// Reasons are the allowed reasons (spec 4.1).
var Reasons = []Reason{"out-of-stock", "damaged", "wrong-price", "disabled-product", "wrong-product"}

// Valid reports whether r is empty or one of the allowed reasons.
func (r Reason) Valid() bool {
	if r == "" {
		return true
	}
	for _, allowed := range Reasons {
		if r == allowed {
			return true
		}
	}
	return false
}

package console

import (
	"net/http"

	"merchantorders/internal/order"
)

// print serves GET /orders/{reference}/print: what goes into the parcel and where it
// goes to, without prices.
func (s *site) print(w http.ResponseWriter, r *request) error {
	o, err := s.Orders.Get(r.Context(), r.grant.MerchantID, order.ByReference(r.PathValue("reference")))
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "print", o)
}

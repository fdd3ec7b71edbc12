package console

import (
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// print serves GET /orders/{reference}/print: what goes into the parcel and where it
// goes to, without prices.
func (s *site) print(w http.ResponseWriter, r *web.Request) error {
	o, err := s.Orders.Get(r.Context(), r.Caller.MerchantID, order.ByReference(r.PathValue("reference")))
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "print", o)
}

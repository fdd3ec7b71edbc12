package operator

import (
	"merchantorders/internal/api/bulkapi"
	"merchantorders/internal/ingest"
	"merchantorders/internal/web"
)

// importOrders serves POST /orders/import: order documents, one a line.
func (a API) importOrders(s *web.Stream) error {
	return bulkapi.Serve(s, ingest.Documents(a.Orders.Prepare, a.Orders.Import, s.Caller), "")
}

// changeOrders serves POST /orders/transitions: changes of orders, one a line.
func (a API) changeOrders(s *web.Stream) error {
	key, err := bulkapi.Key(s)
	if err != nil {
		return err
	}
	return bulkapi.Serve(s, ingest.Changes(a.Orders, s.Caller, key), key)
}

package console

import (
	"context"

	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// storeView is a store as operators' pages name it.
type storeView struct {
	ID     int64
	Name   string // empty: unknown
	Linked bool   // the session may open the page of the store
}

// Store returns a store of the page. The page has named it with its method stores.
func (l layout) Store(id int64) storeView {
	return storeView{id, l.Stores[id], l.Scopes.Has(order.ScopeMerchants)}
}

// storeNames returns the names of stores by id.
func (s *site) storeNames(ctx context.Context, ids []int64) (map[int64]string, error) {
	names := make(map[int64]string)
	if len(ids) == 0 {
		return names, nil
	}
	merchants, err := s.Merchants.List(ctx, order.MerchantFilter{IDs: ids})
	for _, m := range merchants {
		names[m.ID] = m.Name
	}
	return names, err
}

// endpointStore returns the store of a webhook.
func endpointStore(e webhook.Endpoint) int64 { return e.MerchantID }

func (v webhooksView) stores() []int64 { return web.Collect(v.Endpoints, endpointStore) }

func (v webhookView) stores() []int64 { return []int64{v.Endpoint.MerchantID} }

// foundStore returns the store of an order.
func foundStore(o order.FoundOrder) int64 { return o.MerchantID }

func (v foundView) stores() []int64 { return web.Collect(v.Orders, foundStore) }

func (v operatorOrderView) stores() []int64 { return []int64{v.Order.MerchantID} }

func (v auditView) stores() []int64 {
	return web.Collect(v.Entries, func(e order.AuditEntry) int64 { return e.MerchantID })
}

func (v tokensView) stores() []int64 {
	return web.Collect(v.Tokens, func(t token.Token) int64 { return t.MerchantID })
}

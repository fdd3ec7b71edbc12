package console

import (
	"context"

	"merchantorders/internal/order"
	"merchantorders/internal/webhook"
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

// storesOf returns the stores of webhooks.
func storesOf(endpoints []webhook.Endpoint) []int64 {
	ids := make([]int64, len(endpoints))
	for i, e := range endpoints {
		ids[i] = e.MerchantID
	}
	return ids
}

func (v webhooksView) stores() []int64 { return storesOf(v.Endpoints) }

func (v webhookView) stores() []int64 { return []int64{v.Endpoint.MerchantID} }

func (v foundView) stores() []int64 { return storesOfOrders(v.Orders) }

// storesOfOrders returns the stores of orders.
func storesOfOrders(orders []order.FoundOrder) []int64 {
	ids := make([]int64, len(orders))
	for i, o := range orders {
		ids[i] = o.MerchantID
	}
	return ids
}

func (v operatorOrderView) stores() []int64 { return []int64{v.Order.MerchantID} }

func (v auditView) stores() []int64 {
	ids := make([]int64, len(v.Entries))
	for i, e := range v.Entries {
		ids[i] = e.MerchantID
	}
	return ids
}

func (v tokensView) stores() []int64 {
	ids := make([]int64, len(v.Tokens))
	for i, t := range v.Tokens {
		ids[i] = t.MerchantID
	}
	return ids
}

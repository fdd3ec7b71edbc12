package console

import (
	"context"
	"slices"
	"strconv"
	"strings"

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

// StorePath returns the path to a store, below the root: its page, or else its orders.
func (l layout) StorePath(id int64) string {
	if l.Scopes.Has(order.ScopeMerchants) {
		return operatorPrefix + "/merchants/" + strconv.FormatInt(id, 10)
	}
	return operatorPrefix + "/orders?merchant=" + strconv.FormatInt(id, 10)
}

// maxOffered is how many stores are named to choose from.
const maxOffered = 8

// storesNamed returns stores that a text may mean: of the first MaxMerchantsPage those with the
// number, and those whose name has it, in any letter case and without accents; of the others
// the one with the number, and those whose name begins with it.
func (s *site) storesNamed(ctx context.Context, text string) (found []order.Merchant, err error) {
	if !isLine(text) || folded(text) == "" {
		return nil, nil
	}
	id, _ := order.ParseID(text)
	for _, filter := range []order.MerchantFilter{{Limit: order.MaxMerchantsPage}, {IDs: []int64{id}}, {NamePrefix: text, Limit: maxOffered}} {
		stores, err := s.Merchants.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, m := range stores {
			if (m.ID == id || strings.Contains(folded(m.Name), folded(text))) && len(found) < maxOffered && !slices.Contains(found, m) {
				found = append(found, m)
			}
		}
		if filter.Limit > len(stores) {
			break // these are all stores
		}
	}
	return found, nil
}

// readStore reads a store from a form, by its number or its whole name, in any letter case and
// without accents; 0: none. It refuses others, and then offers those that may be meant.
func (s *site) readStore(r *web.Request, form formView) (int64, error) {
	text := strings.TrimSpace(form.Value("merchant"))
	if id, ok := order.ParseID(text); text == "" || ok && id != 0 {
		return id, nil
	}
	found, err := s.storesNamed(r.Context(), text)
	same := slices.DeleteFunc(slices.Clone(found), func(m order.Merchant) bool { return folded(m.Name) != folded(text) })
	switch {
	case err != nil:
		return 0, err
	case len(same) == 1:
		return same[0].ID, nil
	case len(found) == 0:
		form.refuse("merchant", "problem.store")
	default:
		form.refuse("merchant", "problem.stores")
	}
	form.offered["merchant"] = found
	return 0, nil
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

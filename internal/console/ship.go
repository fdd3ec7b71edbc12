package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

const shipPath = Prefix + "/ship"

// shipView is the data of a page of the orders to ship: those accepted that are still with
// the store, the earliest time of dispatch first.
type shipView struct {
	queuePages
	Orders []shipOrder
	Shown  int64 // of Total, on all pages
}

// shipOrder is an order to ship.
type shipOrder struct {
	order.Order
	Due newOrder // the time of dispatch is its deadline
}

// ship serves GET /ship.
func (s *site) ship(w http.ResponseWriter, r *web.Request) error {
	query := web.ParseRawQuery(r.URL.RawQuery)
	view := shipView{queuePages: queuePages{Size: query.Limit(queueSizes[0], order.MaxUnansweredLimit)}}
	if err := query.Err(); err != nil {
		return err
	}
	orders, err := s.Orders.ToShip(r.Context(), r.Caller.MerchantID)
	if err != nil {
		return err
	}
	if _, view.Total, err = s.queues(r); err != nil {
		return err
	}
	for name, by := range map[string]int{"before": -1, "after": 1} {
		if r.URL.Query().Has(name) {
			return s.toBeside(w, r, orders, view.Size, by, r.URL.Query().Get(name))
		}
	}
	view.Shown = int64(len(orders))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	page = max(1, min(page, (len(orders)+view.Size-1)/view.Size))
	view.Path = shipPage(view.Size, page)
	if page > 1 {
		view.First = shipPage(view.Size, 1)
	}
	if page*view.Size < len(orders) {
		view.Next = shipPage(view.Size, page+1)
	}
	begin := min((page-1)*view.Size, len(orders))
	view.Orders = web.Collect(orders[begin:min(begin+view.Size, len(orders))], func(o order.Order) shipOrder {
		return shipOrder{o, s.newOrder(order.UnansweredOrder{ExpiresAt: o.DispatchUntil})}
	})
	return s.show(w, r, http.StatusOK, "ship", &view)
}

// shipPage returns the path of a page of the orders to ship.
func shipPage(size, page int) string {
	query := url.Values{"limit": {strconv.Itoa(size)}}
	if page > 1 {
		query.Set("page", strconv.Itoa(page))
	}
	return shipPath + "?" + query.Encode()
}

// toBeside leads to the order to ship that is by so many places behind another one; without
// it to the list. The page of an order links to this: it would have to read all of them.
func (s *site) toBeside(w http.ResponseWriter, r *web.Request, orders []order.Order, size, by int, reference string) error {
	i := slices.IndexFunc(orders, func(o order.Order) bool { return o.Reference == reference })
	to := shipPage(size, 1)
	if i >= 0 {
		to = shipPage(size, i/size+1)
	}
	if at := i + by; i >= 0 && at >= 0 && at < len(orders) {
		to = orderIn(orders[at].Reference, shipPage(size, at/size+1))
	}
	return s.redirect(w, r, to)
}

// pickLine is an item of a pick list, summed over the orders.
type pickLine struct {
	order.LineItem // of the first order; Quantity is the sum
	In             []pickedOrder
}

// pickedOrder is how many of an item an order has.
type pickedOrder struct {
	Reference string
	Quantity  int64
}

// PickLines returns the items of the orders, by the store's code and the name.
func (v printView) PickLines() []pickLine {
	type key struct{ merchantSKU, sku, ean, name string }
	var lines []pickLine
	at := make(map[key]int)
	for _, o := range v.Orders {
		for _, item := range o.LineItems {
			k := key{item.MerchantSKU, item.SKU, cmp.Or(item.MerchantEAN, order.TextOf(item.EAN)), item.ProductName}
			i, known := at[k]
			if !known {
				i = len(lines)
				at[k] = i
				lines = append(lines, pickLine{LineItem: item})
				lines[i].Quantity = 0
			}
			line := &lines[i]
			line.Quantity += item.Quantity
			if n := len(line.In); n > 0 && line.In[n-1].Reference == o.Reference {
				line.In[n-1].Quantity += item.Quantity
			} else {
				line.In = append(line.In, pickedOrder{o.Reference, item.Quantity})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b pickLine) int {
		return cmp.Or(cmp.Compare(cmp.Or(a.MerchantSKU, a.SKU), cmp.Or(b.MerchantSKU, b.SKU)), cmp.Compare(a.ProductName, b.ProductName))
	})
	return lines
}

// Pieces returns how many items of all kinds the orders have.
func (v printView) Pieces() (n int64) {
	for _, o := range v.Orders {
		for _, item := range o.LineItems {
			n += item.Quantity
		}
	}
	return n
}

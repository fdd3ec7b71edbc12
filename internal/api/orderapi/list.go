// Package orderapi holds what orders and lists of both versions have in common beside
// their bodies: entity tags, links to further pages, and cursors. It must not know
// the representation of either version.
package orderapi

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"merchantorders/internal/etag"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// Lister reads lists. order.Service implements it.
type Lister interface {
	// List returns a page of orders.
	List(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, error)
}

// Represent returns the representation of a list whose body view makes. Its tag changes
// with every change of the merchant's data, and each day if the filter has no last
// day, since the body then shows the present day. now is the time of the request,
// address the URL of the list without a query.
func Represent(r *web.Request, lists Lister, list List, now time.Time, address string, view func(order.Page) any) web.Representation {
	day := order.NoDay
	if list.To == order.NoDay {
		day = order.DayOf(now)
	}
	return web.Representation{Day: day, Tag: listTag(r.Caller.MerchantID, r.DataVersion, day), Body: func(rep *web.Representation) (any, error) {
		page, err := lists.List(r.Context(), r.Caller.MerchantID, list.Filter)
		if err != nil {
			return nil, err
		}
		// The page may show changes from after the authentication.
		rep.Tag = listTag(r.Caller.MerchantID, page.Version, day)
		rep.Links = append(rep.Links, pageLinks(r.Caller.MerchantID, list, page, address)...)
		return view(page), nil
	}}
}

// RepresentOrder returns the representation of an order whose body view makes.
func RepresentOrder(r *web.Request, orders *order.Service, id order.Identifier, view func(rep *web.Representation, o order.Order) any) web.Representation {
	return web.Representation{Day: order.NoDay, Body: func(rep *web.Representation) (any, error) {
		found, err := orders.Get(r.Context(), r.Caller.MerchantID, id)
		if err != nil {
			return nil, err
		}
		rep.Tag = etag.OfOrder(found.LegacyID, found.Revision)
		return view(rep, found), nil
	}}
}

// listTag returns the data tag of a list: <merchant>-<data version>,
// and -<day> if the list shows the present day.
func listTag(merchantID int64, version order.DataVersion, day order.Day) string {
	tag := strconv.FormatInt(merchantID, 10) + "-" + version.String()
	if day != order.NoDay {
		tag += "-" + strconv.FormatInt(int64(day), 10)
	}
	return tag
}

// pageLinks returns the links to the first page of a list and to the next page, if
// there is one. The next page begins where this one ends, whatever orders arrive
// meanwhile.
func pageLinks(merchantID int64, list List, page order.Page, address string) []string {
	query := list.inLinks
	links := []string{link(address, query, "first")}
	if page.Next != nil {
		query.Set(web.CursorName, newCursor(merchantID, list.Filter, list.Page+1, *page.Next))
		links = append(links, link(address, query, "next"))
	}
	return links
}

func link(address string, query url.Values, relation string) string {
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return "<" + address + `>; rel="` + relation + `"`
}

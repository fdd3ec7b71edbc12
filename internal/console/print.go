package console

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"rsc.io/qr"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// printView is the data of the packing slips.
type printView struct {
	Orders  []order.Order
	Missing []string // references that are not those of orders
	LeftOut []string // references of orders that are not to be shipped
	More    bool     // the selection has more orders than maxPaper
	Problem string   // key of a message; empty: none
	Back    string   // path of the page before
	Slip    order.Slip
}

// print serves GET /orders/{reference}/print: what goes into the parcel and where it
// goes to, without prices.
func (s *site) print(w http.ResponseWriter, r *web.Request) error {
	o, err := s.Orders.Get(r.Context(), r.Caller.MerchantID, order.ByReference(r.PathValue("reference")))
	if err != nil {
		return err
	}
	store, err := s.Merchants.Get(r.Context(), r.Caller.MerchantID)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "print", printView{Orders: []order.Order{o}, Back: orderIn(o.Reference, from(r)), Slip: store.Slip})
}

// papers returns the handler of GET /print?order=A-1&order=A-2, the packing slips of the
// selected orders, each on a page of its own, and of GET /pick, what they need from the warehouse.
// Those that are not to be shipped are left out.
func (s *site) papers(template string) web.Handler {
	return func(w http.ResponseWriter, r *web.Request) error {
		view := printView{Back: localPath(cmp.Or(r.URL.Query().Get("back"), listPath))}
		selected, problem := selection(r.URL.Query())
		all := r.URL.Query().Has("all")
		if problem != "" && !all {
			view.Problem = problem
			return s.show(w, r, http.StatusUnprocessableEntity, template, view)
		}
		store, err := s.Merchants.Get(r.Context(), r.Caller.MerchantID)
		if err != nil {
			return err
		}
		view.Slip = store.Slip
		if all {
			view.Orders, view.More, err = s.ordersOf(r, view.Back)
		} else {
			view.Orders, view.Missing, err = s.selectedOrders(r, selected)
		}
		if err != nil {
			return err
		}
		view.Orders = slices.DeleteFunc(view.Orders, func(o order.Order) bool {
			if notSent(o) {
				view.LeftOut = append(view.LeftOut, o.Reference)
			}
			return notSent(o)
		})
		return s.show(w, r, http.StatusOK, template, view)
	}
}

// maxPaper is how many orders of all pages a page for paper has.
const maxPaper = 1000

// ordersOf returns the whole orders of all pages of a view, of more than maxPaper the first.
func (s *site) ordersOf(r *web.Request, view string) (orders []order.Order, more bool, err error) {
	if baseOf(view) == shipPath { // it reads whole orders
		orders, err = s.Orders.ToShip(r.Context(), r.Caller.MerchantID)
		return orders[:min(len(orders), maxPaper)], len(orders) > maxPaper, err
	}
	for page, err := range s.pagesOf(r, view) {
		if err != nil {
			return nil, false, err
		}
		whole, err := s.wholeOrders(r, page)
		if err != nil {
			return nil, false, err
		}
		if orders = append(orders, whole...); len(orders) > maxPaper {
			return orders[:maxPaper], true, nil
		}
	}
	return orders, false, nil
}

// selectedOrders returns the whole orders that a form selects, and the references of those
// that do not exist.
func (s *site) selectedOrders(r *web.Request, selected []string) (orders []order.Order, missing []string, err error) {
	for _, reference := range selected {
		o, err := s.Orders.Get(r.Context(), r.Caller.MerchantID, order.ByReference(reference))
		switch {
		case err == nil:
			orders = append(orders, o)
		case errors.Is(err, order.ErrNotFound):
			missing = append(missing, reference)
		default:
			return nil, nil, err
		}
	}
	return orders, missing, nil
}

// qrView is a QR code: of each row its dark squares, as an SVG path.
type qrView struct {
	Text string
	Size int // squares of a side, with the white border
	Path string
}

// newQR returns the QR code of a reference, for the scanner of a packing table.
func newQR(text string) (qrView, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return qrView{}, err
	}
	const border = 4 // squares, as ISO/IEC 18004 asks for
	var path strings.Builder
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+border, y+border)
			}
		}
	}
	return qrView{text, code.Size + 2*border, path.String()}, nil
}

// recipient returns where a parcel goes to, for a courier: the customer's name and phone
// stand in for those that the address lacks.
func recipient(o order.Order) order.Address {
	to := o.Shipping
	if joined("", to.FirstName, to.LastName) == "" {
		to.FirstName, to.LastName = o.Customer.FirstName, cmp.Or(o.Customer.LastName, o.Customer.Company)
	}
	to.Phone = cmp.Or(to.Phone, order.TextOf(o.Customer.Phone))
	return to
}

// notSent reports whether an order is not to be shipped: its paper says so.
func notSent(o order.Order) bool {
	return o.State == order.Canceled || o.State == order.RejectedByMerchant || o.State == order.ReturnCanceled
}

// onDelivery reports whether the courier collects the total: cod is the payment method
// cash on delivery.
func onDelivery(o order.Order) bool { return o.PaymentName == payOnDelivery && !notSent(o) }

// payOnDelivery is the name of the payment to the courier.
const payOnDelivery = "cod"

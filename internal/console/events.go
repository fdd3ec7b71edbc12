package console

import (
	"time"

	"merchantorders/internal/order"
)

// eventView is an event of an order as people read it.
type eventView struct {
	At     time.Time
	Text   string
	File   string // name of the file that it is about; empty: none
	Who    string
	Reason string // empty: none
}

// event returns an event as people read it. session is the token of the session.
func (l language) event(e order.EventRecord, session int64) eventView {
	view := eventView{At: e.At, File: e.FileName, Text: l.text("event." + e.Type.String()), Who: l.text("who." + e.By.Actor.String())}
	switch {
	case e.Type == order.OrderStateChanged:
		view.Text = l.text("state." + e.To.String())
	case e.Type == order.OrderUpdated && e.By.Actor == order.ActorMerchant:
		view.Text = l.text("event.own")
	}
	if e.By.Actor == order.ActorMerchant && e.By.TokenID != 0 {
		view.Who = l.text("who.token", e.By.TokenID)
		if e.By.TokenID == session {
			view.Who = l.text("who.you")
		}
	}
	switch {
	case e.Reason == "":
	case e.Reason.Valid():
		view.Reason = l.text("reason." + string(e.Reason))
	default:
		view.Reason = string(e.Reason)
	}
	return view
}

// addressView is an address with its heading.
type addressView struct {
	ID, Label string
	Lines     []string
	Phone     string
	Type      string
}

func newAddressView(label string, a order.Address) addressView {
	return addressView{ID: "heading-" + label, Label: label, Lines: addressLines(a), Phone: a.Phone, Type: a.Type}
}

package console

import (
	"slices"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// eventView is an event of an order as people read it.
type eventView struct {
	At     time.Time
	Text   string
	File   string // name of the file that it is about; empty: none
	Who    string
	By     string // key of the words before Who in a sentence; empty: it names nobody
	Reason string // empty: none
}

// names tells who made changes, as a page names them.
type names struct {
	own    int64            // the token that a login link made for this session; 0: none
	staff  bool             // the page is for a merchant's staff
	labels map[int64]string // of tokens, by id
}

// namesOf returns the names of who made changes. A merchant's staff see those of their own
// tokens only.
func (s *site) namesOf(r *web.Request, by []order.Caller) (names, error) {
	n := names{staff: !r.Caller.Operator()}
	if r.Session.OwnsToken {
		n.own = r.Session.TokenID
	}
	var ids []int64
	for _, caller := range by {
		if caller.TokenID != 0 && !slices.Contains(ids, caller.TokenID) {
			ids = append(ids, caller.TokenID)
		}
	}
	var err error
	n.labels, err = s.Tokens.Labels(r.Context(), r.Caller.MerchantID, ids)
	return n, err
}

// Label returns the label of a token; empty: it has none.
func (n names) Label(token int64) string { return n.labels[token] }

// Staff reports whether the page is for a merchant's staff.
func (n names) Staff() bool { return n.staff }

// lastChange returns the change that gave an order its state; nil: none is known.
func lastChange(history []order.EventRecord) *order.EventRecord {
	for _, event := range slices.Backward(history) {
		if event.Type == order.OrderStateChanged || event.Type == order.OrderCreated {
			return &event
		}
	}
	return nil
}

// eventCaller returns who made an event.
func eventCaller(e order.EventRecord) order.Caller { return e.By }

// entryCaller returns who did what an entry of the audit log says.
func entryCaller(e order.AuditEntry) order.Caller { return e.By }

// entrySubject returns who acts with the token that an entry of the audit log is about.
func entrySubject(e order.AuditEntry) order.Caller { return order.Caller{TokenID: subjectToken(e)} }

// subjectToken returns the id of the token that an entry of the audit log is about; 0: none.
func subjectToken(e order.AuditEntry) int64 {
	if strings.HasPrefix(string(e.Action), "token.") || strings.HasPrefix(string(e.Action), "session.") {
		return e.SubjectID
	}
	return 0
}

// saidYou is the key of the words that name who reads them.
const saidYou = "said.you"

// Named reports whether a sentence has the name of who made the event.
func (v eventView) Named() bool { return v.By != "" && v.By != saidYou }

// event returns an event as people read it.
func (l language) event(e order.EventRecord, n names) eventView {
	view := eventView{At: e.At, File: e.FileName, Text: l.text("event." + e.Type.String()), Who: l.text("who." + e.By.Actor.String())}
	switch {
	case e.Type == order.OrderStateChanged && e.To == order.InProcessing:
		view.Text = l.text("event.accepted")
	case e.Type == order.OrderStateChanged:
		view.Text = l.text("state." + e.To.String())
	case e.Type == order.OrderUpdated && e.By.Actor == order.ActorMerchant:
		view.Text = l.text("event.own")
	}
	label, store := n.Label(e.By.TokenID), "who.store"
	if n.staff {
		store = "who.yours"
	}
	if e.By.Actor == order.ActorMerchant {
		view.Who = l.text(store)
	}
	by := "said.by"
	switch {
	case e.By.TokenID == 0:
	case e.By.TokenID == n.own:
		view.Who, by = l.text("who.you"), saidYou
	case e.By.Actor != order.ActorMerchant:
		view.Who = strings.TrimSuffix(view.Who+", "+label, ", ")
	case label != "":
		view.Who, by = label, "said.person"
	default:
		view.Who = l.text(store+".token", e.By.TokenID)
	}
	if e.Type != order.OrderCreated && e.By.Actor != order.ActorSystem {
		view.By = by
	}
	view.Reason = l.reason(e.Reason)
	return view
}

// reason returns a reason as people read it: in their language if it is a usual one.
func (l language) reason(reason order.Reason) string {
	if text, ok := messages()[l.code]["reason."+string(reason)]; ok {
		return text
	}
	return string(reason)
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

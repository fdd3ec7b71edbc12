package console

import (
	"net/url"

	"merchantorders/internal/order"
)

// maxNamed is how many orders a question names.
const maxNamed = 5

// question is the data of a page that asks before something that cannot be undone, or
// that is done to many orders. Its form sends what the page before had, and sure.
type question struct {
	Title, Button string // keys of messages; with numbers if Count is set
	To            string // key of the word for the state that the title names; empty: none
	Danger        bool
	Then          string // key of a message of a button that also prints the packing slips; empty: none
	Text          string // key of a message; empty: none
	Count         int64  // of orders; 0: it is not about orders
	Named         []order.Order
	Reason        order.Reason
	Subject       string // what it is about, beside orders
	Store         int64  // of the subject; 0: it is not named
	Path          string // of the form
	Fields        url.Values
	Back, Keep    string // path of the page before, and the key of the link to it
}

func (q question) stores() []int64 { return []int64{q.Store} }

// More returns how many orders are not named.
func (q question) More() int64 { return q.Count - int64(len(q.Named)) }

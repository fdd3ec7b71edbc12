package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/order"
)

type searchCommand struct {
	jsonFlag
	Words         []string `arg:"" optional:"" help:"Beginnings of words of reference, e-mail address, phone number, names or codes; the end of the reference; the numeric id."`
	Merchant      string   `placeholder:"N" help:"Only orders of this merchant."`
	State         []string `placeholder:"STATE" help:"Only orders in this state; may be repeated."`
	From          string   `placeholder:"DAY" help:"Only orders created on or after this day (UTC), such as 2026-11-20."`
	To            string   `placeholder:"DAY" help:"Only orders created on or before this day (UTC)."`
	ExpiresBefore string   `name:"expires-before" placeholder:"TIME" help:"Only registered orders with a deadline before this time, such as 2026-11-20T08:15:30Z."`
	Limit         string   `default:"100" placeholder:"N" help:"Maximum number of orders to print."`

	search order.Search
	limit  int64
}

func (c *searchCommand) check() error {
	var f flagValues
	c.search = order.Search{Text: strings.Join(c.Words, " "), Limit: order.MaxSearchLimit}
	if len(c.search.Text) > order.MaxSearchText {
		f.faults = append(f.faults, fmt.Errorf("the words must be at most %d bytes together", order.MaxSearchText))
	}
	c.search.MerchantID = f.optionalID("merchant", c.Merchant)
	for _, name := range c.State {
		s, ok := order.ParseState(name)
		if !ok {
			f.refuse("state", "must be one of "+order.StateNames())
		}
		c.search.States = append(c.search.States, s)
	}
	c.search.From, c.search.To = f.days(c.From, c.To)
	if c.ExpiresBefore != "" {
		var ok bool
		if c.search.ExpiresBefore, ok = order.ParseTime(c.ExpiresBefore); !ok {
			f.refuse("expires-before", "must be a time such as 2026-11-20T08:15:30Z")
		} else if c.search.Text == "" {
			c.search.Sort = order.SortExpires
		}
	}
	c.limit = f.id("limit", c.Limit)
	return f.err()
}

// foundJSON is the JSON output of a result of a search.
type foundJSON struct {
	MerchantID     int64      `json:"merchantId"`
	OrderID        int64      `json:"orderId"`
	OrderReference string     `json:"orderReference"`
	State          string     `json:"state"`
	CreatedAt      time.Time  `json:"createdAt"`
	ExpiresAt      *time.Time `json:"expiresAt"`
	CustomerName   string     `json:"customerName"`
	Email          string     `json:"email"`
	Total          int64      `json:"total"`
	Currency       string     `json:"currency"`
	Invoices       int        `json:"invoices"`
}

func newFoundJSON(o order.FoundOrder) foundJSON {
	found := foundJSON{
		MerchantID: o.MerchantID, OrderID: o.LegacyID, OrderReference: o.Reference, State: o.State.String(), CreatedAt: utc(o.CreatedAt),
		CustomerName: strings.TrimSpace(o.Customer.FirstName + " " + o.Customer.LastName), Email: o.Customer.Email,
		Total: o.Total, Currency: o.Currency, Invoices: o.Invoices,
	}
	if !o.ExpiresAt.IsZero() {
		expiresAt := utc(o.ExpiresAt)
		found.ExpiresAt = &expiresAt
	}
	return found
}

var foundHeading = []string{"CREATED", "MERCHANT", "ORDER", "ID", "STATE", "EXPIRES", "TOTAL", "CUSTOMER", "E-MAIL"}

func foundRow(o order.FoundOrder) []string {
	return []string{
		timestamp(o.CreatedAt), numberOr(o.MerchantID), textOr(o.Reference), numberOr(o.LegacyID), o.State.String(), timestamp(o.ExpiresAt),
		order.Decimal(o.Total, o.Currency), textOr(o.Customer.FirstName, o.Customer.LastName), textOr(o.Customer.Email),
	}
}

func (c *searchCommand) runOn(ctx context.Context, p *process, b *app.Backend) error {
	var found []order.FoundOrder
	for {
		page, err := b.Orders.Search(ctx, c.search)
		if err != nil {
			return err
		}
		found = append(found, page.Orders...)
		if c.search.After = page.Next; page.Next == nil || int64(len(found)) >= c.limit {
			break
		}
	}
	more := c.search.After != nil || int64(len(found)) > c.limit
	found = found[:min(int64(len(found)), c.limit)]
	err := printList(p, c.jsonFlag, foundHeading, found, foundRow, newFoundJSON)
	if more {
		p.printError("only the first %d orders are printed; a larger --limit prints more", c.limit)
	}
	return err
}

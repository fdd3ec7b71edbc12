package commands

import (
	"context"
	"errors"
	"fmt"

	"merchantorders/internal/api/operator"
	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
)

type eraseCommand struct {
	withFiles
	jsonFlag
	CustomerEmail string `name:"customer-email" placeholder:"TEXT" help:"E-mail address of the customer whose orders to erase, of all merchants. This, or --merchant and --reference, is required."`
	Merchant      string `placeholder:"N" help:"Merchant of the order to erase."`
	Reference     string `placeholder:"TEXT" help:"Reference of the order to erase."`
	DryRun        bool   `name:"dry-run" help:"Only count what would be erased."`
	Files         bool   `help:"Also delete the invoice files, remove their bytes at once and replace their names."`

	merchantID int64
}

func (c *eraseCommand) check() error {
	if c.CustomerEmail != "" {
		other := ""
		if c.Merchant != "" || c.Reference != "" {
			other = "must not be given together with --merchant or --reference"
		}
		return errors.Join(config.Invalid("customer-email", other), checkEmail(c.CustomerEmail))
	}
	if c.Merchant == "" && c.Reference == "" {
		return config.Invalid("customer-email", "or --merchant and --reference are required")
	}
	var f flagValues
	c.merchantID = f.id("merchant", c.Merchant)
	if !order.ValidReference(c.Reference) {
		f.refuse("reference", "must be the reference of an order")
	}
	return f.err()
}

func checkEmail(text string) error {
	if !order.ValidEmail(text) {
		return config.Invalid("customer-email", "must be an e-mail address")
	}
	return nil
}

func (c *eraseCommand) runOn(ctx context.Context, p *process, b *app.Backend) error {
	target := order.EraseTarget{Email: c.CustomerEmail, MerchantID: c.merchantID, Reference: c.Reference, Files: c.Files}
	if c.DryRun {
		found, err := b.Retention.Affected(ctx, target)
		switch missing := errors.Is(err, order.ErrNotFound); {
		case missing && c.CustomerEmail == "":
			return c.noOrder()
		case err != nil && !missing:
			return err
		}
		if !c.Files {
			found.Files = 0
		}
		return p.printResult(c.JSON, erasureJSON{found.Orders, found.Files, true}, "would erase: orders %d, files %d", found.Orders, found.Files)
	}
	var total order.Erasure
	for more := true; more; {
		erased, err := b.Retention.Erase(ctx, p.caller, target, order.Options[order.Erasure]{})
		total.Orders += erased.Orders
		total.Files += erased.Files
		if errors.Is(err, order.ErrNotFound) {
			return c.noOrder()
		}
		if err != nil {
			return errors.Join(err, c.printErased(p, total, "; run the command again"))
		}
		more = erased.More
	}
	if err := c.printErased(p, total, ""); err != nil || total.Orders > 0 || c.CustomerEmail == "" {
		return err
	}
	return errNoCustomer
}

// erasureJSON is the JSON output of erase.
type erasureJSON struct {
	Orders int64 `json:"orders"`
	Files  int64 `json:"files"`
	DryRun bool  `json:"dryRun,omitempty"` // nothing was erased
}

func (c *eraseCommand) printErased(p *process, total order.Erasure, rest string) error {
	return p.printResult(c.JSON, erasureJSON{total.Orders, total.Files, false}, "erased: orders %d, files %d%s", total.Orders, total.Files, rest)
}

// noOrder returns the error of an order that does not exist.
func (c *eraseCommand) noOrder() error {
	return fmt.Errorf("merchant %d has no order %s", c.merchantID, c.Reference)
}

var errNoCustomer = errors.New("no order has a customer with this address, or all are erased already")

type exportCommand struct {
	CustomerEmail string `name:"customer-email" placeholder:"TEXT" help:"E-mail address of the customer. This or --orders is required."`
	Orders        bool   `help:"Export whole orders as order documents, which import accepts."`
	Merchant      string `placeholder:"N" help:"Only the orders of this merchant, with --orders. Empty: of all."`
	From          string `placeholder:"DAY" help:"Only orders created on or after this day (UTC), with --orders, such as 2026-11-20."`
	To            string `placeholder:"DAY" help:"Only orders created on or before this day (UTC), with --orders."`

	query order.ExportQuery
}

func (c *exportCommand) check() error {
	var f flagValues
	c.query.MerchantID = f.optionalID("merchant", c.Merchant)
	c.query.From, c.query.To = f.days(c.From, c.To)
	switch {
	case c.Orders && c.CustomerEmail != "":
		f.refuse("customer-email", "must not be given together with --orders")
	case !c.Orders && c.CustomerEmail == "":
		f.refuse("customer-email", "or --orders is required")
	case !c.Orders && c.Merchant != "":
		f.refuse("merchant", "must be given together with --orders")
	case !c.Orders && c.From != "":
		f.refuse("from", "must be given together with --orders")
	case !c.Orders && c.To != "":
		f.refuse("to", "must be given together with --orders")
	case !c.Orders:
		return checkEmail(c.CustomerEmail)
	}
	return f.err()
}

// exportOrders prints orders as documents.
func (c *exportCommand) exportOrders(ctx context.Context, p *process, b *app.Backend) error {
	if c.query.MerchantID != 0 {
		if _, err := b.Merchants.Get(ctx, c.query.MerchantID); err != nil {
			return noMerchant(c.query.MerchantID, "merchant list", err)
		}
	}
	unreadable := 0
	for orders, err := range b.Orders.Export(ctx, c.query) {
		for i := 0; i < len(orders) && err == nil; i++ {
			if o := orders[i]; o.Unreadable {
				unreadable++
				p.printError("merchant %d, order %s: its details cannot be decoded, so it is not exported; check says what to do", o.MerchantID, o.Reference)
				continue
			}
			var document []byte
			if document, err = ingest.Encode(&orders[i]); err == nil {
				_, err = p.stdout.Write(append(document, '\n'))
			}
		}
		if err != nil {
			return err
		}
	}
	if unreadable > 0 {
		return errors.New(count(int64(unreadable), "order is not exported", "orders are not exported"))
	}
	return nil
}

func (c *exportCommand) runOn(ctx context.Context, p *process, b *app.Backend) error {
	if c.Orders {
		return c.exportOrders(ctx, p, b)
	}
	found := false
	for record, err := range b.Retention.CustomerData(ctx, p.caller, c.CustomerEmail) {
		if err != nil {
			return err
		}
		found = true
		view, err := operator.NewCustomerOrder(record)
		if err == nil {
			err = p.printJSON(view)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		p.printError("%v", errNoCustomer)
	}
	return nil
}

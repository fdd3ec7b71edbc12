package commands

import (
	"cmp"
	"context"

	"merchantorders/internal/app"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
)

// localURL is where serve listens by default.
const localURL = "http://127.0.0.1:8080"

type loginLinkCommand struct {
	Merchant string `placeholder:"N" help:"Id of the merchant whose orders the person may see. This or --operator is required."`
	Operator bool   `help:"The person works for the marketplace: the link is for the pages of operators."`
	Name     string `placeholder:"TEXT" help:"Name of the person, as the store's pages and the audit log show it: up to 100 characters."`
	Scopes   string `placeholder:"LIST" help:"Scopes of the session, separated by commas. Of a merchant's staff: orders:read, orders:write (accept, reject), invoices:write (upload, withdraw), tokens, webhooks; empty: the first three. Of an operator: those of token create; empty: all."`

	request token.Person
}

func (c *loginLinkCommand) check() error {
	var f flagValues
	c.request = token.Person{Operator: c.Operator, Name: c.Name}
	c.request.MerchantID, c.request.Scopes = f.holder(c.Merchant, c.Operator, c.Scopes)
	f.refuse("name", token.LabelProblem(c.Name))
	return f.err()
}

func (c *loginLinkCommand) runOn(ctx context.Context, p *process, b *app.Backend) error {
	created, err := b.Sessions.NewLoginLink(ctx, p.caller, c.request, order.Options[token.CreatedLink]{})
	if err != nil {
		return noMerchant(c.request.MerchantID, "merchant add --help", err)
	}
	token.LogLoginLink(p.log(p.Settings.Level()), created.LoginLink, p.byCommand())
	baseURL, _ := p.Settings.Addresses(localURL)
	if c.Operator {
		baseURL = cmp.Or(p.Settings.AdminURL(), baseURL)
	}
	return p.print("%s", created.URL(baseURL))
}

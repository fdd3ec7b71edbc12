package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
)

// localURL is where serve listens by default.
const localURL = "http://127.0.0.1:8080"

type loginLinkCommand struct {
	Merchant string `placeholder:"N" help:"Id of the merchant whose orders the person may see. Required."`
	Scopes   string `placeholder:"LIST" help:"Scopes of the session, separated by commas: orders:read, orders:write (accept, reject), invoices:write (upload, withdraw), tokens, webhooks. Empty: the first three."`

	merchantID int64
	scopes     order.Scope
}

func (c *loginLinkCommand) check() error {
	var merchant, scopes string
	c.merchantID, merchant = positive(c.Merchant)
	c.scopes = order.DefaultScopes
	if c.Scopes != "" {
		var err error
		names := strings.Split(strings.ReplaceAll(c.Scopes, " ", ""), ",")
		if c.scopes, err = order.ParseScopes(names, order.MerchantScopes); err != nil {
			scopes = err.Error()
		}
	}
	return errors.Join(config.Invalid("merchant", merchant), config.Invalid("scopes", scopes))
}

func (c *loginLinkCommand) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, existing, func(b *app.Backend) error {
		created, err := b.Sessions.NewLoginLink(ctx, order.Command(), c.merchantID, c.scopes, order.Options[token.CreatedLink]{})
		if errors.Is(err, order.ErrMerchantNotFound) {
			return fmt.Errorf("there is no merchant %d: see %q", c.merchantID, programName+" merchant add --help")
		}
		if err != nil {
			return err
		}
		token.LogLoginLink(p.log(p.Settings.Level()), created.LoginLink, byCommand())
		baseURL, _ := p.Settings.Addresses(localURL)
		return p.print("%s", created.URL(baseURL))
	})
}

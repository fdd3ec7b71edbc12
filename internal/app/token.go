package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/token"
)

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Make a token and print it, and nothing else. It is shown this once."`
	List   tokenList   `cmd:"" help:"List all tokens, without their text."`
	Revoke tokenRevoke `cmd:"" help:"End a token, at once and for good."`
}

type tokenCreate struct {
	Merchant string `placeholder:"N" help:"Merchant that the token acts for, by its id. This or --operator is required."`
	Operator bool   `help:"Make a token of the operator interface, good for nothing else."`
	Scopes   string `placeholder:"LIST" help:"What a merchant's token may do, separated by commas: orders:read, orders:write (accept, reject), invoices:write (upload, delete). Empty: all three."`
	Expires  string `placeholder:"TIME" help:"How long from now the token is good, such as 2160h (90 days). Empty: until it is revoked."`

	merchantID int64
	scopes     token.Scope
	lifetime   time.Duration
}

// Help is what --help adds.
func (*tokenCreate) Help() string {
	return `Examples:

    merchant-orders token create --merchant 355
    merchant-orders token create --merchant 355 --scopes orders:read --expires 2160h
    merchant-orders token create --operator`
}

func (c *tokenCreate) check() error {
	var merchant, scopes, expires string
	c.scopes = token.AllScopes
	switch {
	case c.Operator && c.Merchant != "":
		merchant = "must not be given together with --operator"
	case !c.Operator && c.Merchant == "":
		merchant = "is required, or --operator"
	case !c.Operator:
		c.merchantID, merchant = positive(c.Merchant)
	}
	if c.Scopes != "" {
		var err error
		if c.scopes, err = token.ParseScopes(c.Scopes); err != nil {
			scopes = err.Error()
		}
		if c.Operator {
			scopes = "must not be given together with --operator"
		}
	}
	if c.Expires != "" {
		c.lifetime, expires = duration(c.Expires, time.Second)
	}
	return errors.Join(config.About("merchant", merchant), config.About("scopes", scopes), config.About("expires", expires))
}

func (c *tokenCreate) run(ctx context.Context, p *process) error {
	return p.withBackend(ctx, func(b *backend) error {
		var text string
		var err error
		if c.Operator {
			text, _, err = b.tokens.CreateOperator(ctx, c.lifetime)
		} else {
			text, _, err = b.tokens.Create(ctx, c.merchantID, c.scopes, c.lifetime)
		}
		if errors.Is(err, token.ErrNoMerchant) {
			return fmt.Errorf("there is no merchant %d: see %q", c.merchantID, programName+" merchant add --help")
		}
		if err != nil {
			return err
		}
		return p.print("%s", text)
	})
}

type tokenList struct{}

// Help is what --help adds.
func (*tokenList) Help() string {
	return "Times are UTC. LAST USED is kept to about a minute. The first column is what token revoke takes."
}

func (*tokenList) check() error { return nil }

func (*tokenList) run(ctx context.Context, p *process) error {
	return p.withBackend(ctx, func(b *backend) error {
		tokens, err := b.tokens.List(ctx)
		if err != nil {
			return err
		}
		heading := []string{"ID", "MERCHANT", "SCOPES", "TOKEN", "CREATED", "EXPIRES", "LAST USED", "REVOKED"}
		return p.table(heading, len(tokens), func(i int) []string {
			t := tokens[i]
			merchant, scopes := strconv.FormatInt(t.MerchantID, 10), t.Scopes.String()
			if t.Operator() {
				merchant, scopes = "operator", "-"
			}
			return []string{
				strconv.FormatInt(t.ID, 10), merchant, scopes, oneLine(t.Hint) + "...",
				timestamp(t.CreatedAt), timestamp(t.ExpiresAt), timestamp(t.LastUsedAt), timestamp(t.RevokedAt),
			}
		})
	})
}

type tokenRevoke struct {
	Token string `arg:"" name:"id|token" help:"The token's id, as token list shows it, or the token itself."`
}

// Help is what --help adds.
func (*tokenRevoke) Help() string {
	return `A running server refuses the token from its next request on. Revoking again changes nothing.

Example:

    merchant-orders token revoke 7`
}

func (*tokenRevoke) check() error { return nil }

func (c *tokenRevoke) run(ctx context.Context, p *process) error {
	return p.withBackend(ctx, func(b *backend) error {
		id, err := b.tokens.Revoke(ctx, c.Token)
		if errors.Is(err, token.ErrUnknown) {
			// The text is not repeated: it may be a token, mistyped.
			return errors.New("there is no such token")
		}
		if err != nil {
			return err
		}
		return p.print("token %d is revoked", id)
	})
}

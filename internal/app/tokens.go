package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
)

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Create a token and print only it. It cannot be shown again."`
	List   tokenList   `cmd:"" help:"List all tokens, without the secret."`
	Rotate tokenRotate `cmd:"" help:"Replace a token: print a new one, and let the old one expire."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token at once and permanently."`
}

type tokenCreate struct {
	Merchant string `placeholder:"N" help:"Id of the merchant that the token acts for. This or --operator is required."`
	Operator bool   `help:"Create a token for the operator interface only."`
	Scopes   string `placeholder:"LIST" help:"Scopes, separated by commas. Of a merchant's token: orders:read, orders:write (accept, reject), invoices:write (upload, delete), tokens, webhooks; empty: the first three. Of an operator's token: orders:read, orders:ingest, orders:transition, merchants, tokens, webhooks, audit, customers; empty: all."`
	Expires  string `placeholder:"TIME" help:"Lifetime of the token, such as 2160h (90 days). Empty: until it is revoked."`

	merchantID int64
	scopes     token.Scope
	lifetime   time.Duration
}

func (c *tokenCreate) check() error {
	var merchant, scopes, expires string
	c.scopes = token.DefaultScopes
	if c.Operator {
		c.scopes = token.OperatorScopes
	}
	switch {
	case c.Operator && c.Merchant != "":
		merchant = "must not be given together with --operator"
	case !c.Operator && c.Merchant == "":
		merchant = "or --operator is required"
	case !c.Operator:
		c.merchantID, merchant = positive(c.Merchant)
	}
	if c.Scopes != "" {
		var err error
		names := strings.Split(strings.ReplaceAll(c.Scopes, " ", ""), ",")
		if c.scopes, err = token.ParseScopes(names, token.ScopesOf(c.Operator)); err != nil {
			scopes = err.Error()
		}
	}
	if c.Expires != "" {
		c.lifetime, expires = duration(c.Expires, time.Second)
	}
	return errors.Join(config.Invalid("merchant", merchant), config.Invalid("scopes", scopes), config.Invalid("expires", expires))
}

func (c *tokenCreate) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, existing, func(b *backend) error {
		var text string
		var created token.Token
		var err error
		if c.Operator {
			text, created, err = b.tokens.CreateOperator(ctx, c.scopes, c.lifetime)
		} else {
			text, created, err = b.tokens.Create(ctx, c.merchantID, c.scopes, c.lifetime)
		}
		if errors.Is(err, order.ErrMerchantNotFound) {
			return fmt.Errorf("there is no merchant %d: see %q", c.merchantID, programName+" merchant add --help")
		}
		if err != nil {
			return err
		}
		token.LogCreated(p.log(p.settings.Level()), created, byCommand())
		return p.print("%s", text)
	})
}

type tokenList struct {
	alwaysValid
	jsonFlag
}

// tokenJSON is the JSON output of a token.
type tokenJSON struct {
	ID         int64     `json:"id"`
	MerchantID int64     `json:"merchantId,omitempty"` // 0: of the operator
	Operator   bool      `json:"operator"`
	Scopes     []string  `json:"scopes"`
	Hint       string    `json:"hint"` // the beginning of the token
	CreatedAt  time.Time `json:"createdAt"`
	ExpiresAt  time.Time `json:"expiresAt,omitzero"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero"`
	RevokedAt  time.Time `json:"revokedAt,omitzero"`
}

func newTokenJSON(t token.Token) tokenJSON {
	return tokenJSON{
		ID: t.ID, MerchantID: t.MerchantID, Operator: t.Operator(), Hint: t.Hint,
		Scopes:    t.Scopes.Names(),
		CreatedAt: utc(t.CreatedAt), ExpiresAt: utc(t.ExpiresAt), LastUsedAt: utc(t.LastUsedAt), RevokedAt: utc(t.RevokedAt),
	}
}

func (c *tokenList) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, existing, func(b *backend) error {
		tokens, err := b.tokens.List(ctx)
		if err != nil {
			return err
		}
		heading := []string{"ID", "MERCHANT", "SCOPES", "TOKEN", "CREATED", "EXPIRES", "LAST USED", "REVOKED"}
		return printList(p, c.jsonFlag, heading, tokens, func(t token.Token) []string {
			merchant, scopes := strconv.FormatInt(t.MerchantID, 10), t.Scopes.String()
			if t.Operator() {
				merchant = "operator"
			}
			return []string{
				strconv.FormatInt(t.ID, 10), merchant, scopes, oneLine(t.Hint) + "...",
				timestamp(t.CreatedAt), timestamp(t.ExpiresAt), timestamp(t.LastUsedAt), timestamp(t.RevokedAt),
			}
		}, newTokenJSON)
	})
}

type tokenRotate struct {
	Token   string `arg:"" name:"id|token" help:"The token's id, from token list, or the token itself."`
	Overlap string `default:"24h" placeholder:"TIME" help:"Time after which the old token expires, such as 24h. 0s: at once."`
	Expires string `placeholder:"TIME" help:"Lifetime of the new token, such as 2160h (90 days). Empty: as long as that of the old one."`

	overlap, lifetime time.Duration
}

func (c *tokenRotate) check() error {
	var overlap, expires string
	c.overlap, overlap = duration(c.Overlap, 0)
	if c.Expires != "" {
		c.lifetime, expires = duration(c.Expires, time.Second)
	}
	return errors.Join(config.Invalid("overlap", overlap), config.Invalid("expires", expires))
}

func (c *tokenRotate) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, existing, func(b *backend) error {
		text, created, old, err := b.tokens.Rotate(ctx, c.Token, c.overlap, c.lifetime)
		switch {
		case errors.Is(err, token.ErrUnknown):
			return errNoToken(err)
		case err != nil:
			return err
		}
		token.LogCreated(p.log(p.settings.Level()), created,
			byCommand(), slog.Int64("replaces", old.ID), slog.Time("old_expires", old.ExpiresAt))
		return p.print("%s", text)
	})
}

// errNoToken returns the error for a token that cannot be used. The argument of the
// command may be a mistyped token, so the error does not repeat it.
func errNoToken(err error) error {
	if invalid, ok := errors.AsType[*token.InvalidError](err); ok {
		return fmt.Errorf("token %d has expired or is revoked: create another one with %s token create", invalid.ID, programName)
	}
	return errors.New("there is no such token")
}

type tokenRevoke struct {
	alwaysValid
	Token string `arg:"" name:"id|token" help:"The token's id, from token list, or the token itself."`
}

func (c *tokenRevoke) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, existing, func(b *backend) error {
		id, err := b.tokens.Revoke(ctx, c.Token)
		if errors.Is(err, token.ErrUnknown) {
			return errNoToken(err)
		}
		if err != nil {
			return err
		}
		token.LogRevoked(p.log(p.settings.Level()), id, byCommand())
		return p.print("token %d is revoked", id)
	})
}

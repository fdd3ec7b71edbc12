package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"strconv"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/order"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/token"
)

type merchantCommand struct {
	Add  merchantAdd  `cmd:"" help:"Add a merchant. Adding a merchant again with the same name is not an error."`
	List merchantList `cmd:"" help:"List all merchants."`
}

type merchantAdd struct {
	ID   string `name:"id" placeholder:"N" help:"Store id of the merchant, a positive number. Required."`
	Name string `name:"name" placeholder:"TEXT" help:"Name of the merchant. v1 shows it as company_name. Required."`

	id int64
}

func (c *merchantAdd) check() error {
	var problem string
	c.id, problem = positive(c.ID)
	return errors.Join(config.Invalid("id", problem), config.Invalid("name", order.MerchantNameProblem(c.Name)))
}

func (c *merchantAdd) run(ctx context.Context, p *process) error {
	schema := migrations.Options{NoMigrate: true}
	if err := p.allowNew(&schema); err != nil {
		return err
	}
	_, postgres := p.settings.PostgresURL()
	isNew := !postgres && !schema.NoCreate
	if isNew {
		created, err := p.createDataFolder()
		if err != nil {
			return err
		}
		if created != "" {
			p.printError("created the data folder %s", created)
		}
	}
	return p.with(ctx, schema, isNew, func(b *backend) error {
		err := b.orders.AddMerchant(ctx, c.id, c.Name)
		if errors.Is(err, order.ErrMerchantExists) {
			return fmt.Errorf("merchant %d exists already, with another name", c.id)
		}
		if err != nil {
			return err
		}
		return p.print("merchant %d: %s", c.id, c.Name)
	})
}

type merchantList struct{ alwaysValid }

func (*merchantList) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, existing, func(b *backend) error {
		merchants, err := b.orders.Merchants(ctx)
		if err != nil {
			return err
		}
		return printTable(p, []string{"ID", "NAME", "CREATED"}, merchants, func(m order.Merchant) []string {
			return []string{strconv.FormatInt(m.ID, 10), oneLine(m.Name), timestamp(m.CreatedAt)}
		})
	})
}

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Create a token and print only it. It cannot be shown again."`
	List   tokenList   `cmd:"" help:"List all tokens, without the secret."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token at once and permanently."`
}

type tokenCreate struct {
	Merchant string `placeholder:"N" help:"Id of the merchant that the token acts for. This or --operator is required."`
	Operator bool   `help:"Create a token for the operator interface only."`
	Scopes   string `placeholder:"LIST" help:"Scopes of a merchant's token, separated by commas: orders:read, orders:write (accept, reject), invoices:write (upload, delete). Empty: all three."`
	Expires  string `placeholder:"TIME" help:"Lifetime of the token, such as 2160h (90 days). Empty: until it is revoked."`

	merchantID int64
	scopes     token.Scope
	lifetime   time.Duration
}

func (c *tokenCreate) check() error {
	var merchant, scopes, expires string
	c.scopes = token.AllScopes
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
	return errors.Join(config.Invalid("merchant", merchant), config.Invalid("scopes", scopes), config.Invalid("expires", expires))
}

func (c *tokenCreate) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, existing, func(b *backend) error {
		var text string
		var created token.Token
		var err error
		if c.Operator {
			text, created, err = b.tokens.CreateOperator(ctx, c.lifetime)
		} else {
			text, created, err = b.tokens.Create(ctx, c.merchantID, c.scopes, c.lifetime)
		}
		if errors.Is(err, token.ErrNoMerchant) {
			return fmt.Errorf("there is no merchant %d: see %q", c.merchantID, programName+" merchant add --help")
		}
		if err != nil {
			return err
		}
		token.LogCreated(p.log(p.settings.Level()), created, byCommand())
		return p.print("%s", text)
	})
}

type tokenList struct{ alwaysValid }

func (*tokenList) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, existing, func(b *backend) error {
		tokens, err := b.tokens.List(ctx)
		if err != nil {
			return err
		}
		heading := []string{"ID", "MERCHANT", "SCOPES", "TOKEN", "CREATED", "EXPIRES", "LAST USED", "REVOKED"}
		return printTable(p, heading, tokens, func(t token.Token) []string {
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
	alwaysValid
	Token string `arg:"" name:"id|token" help:"The token's id, from token list, or the token itself."`
}

func (c *tokenRevoke) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, existing, func(b *backend) error {
		id, err := b.tokens.Revoke(ctx, c.Token)
		if errors.Is(err, token.ErrUnknown) {
			// The argument may be a mistyped token, so the error does not repeat it.
			return errors.New("there is no such token")
		}
		if err != nil {
			return err
		}
		token.LogRevoked(p.log(p.settings.Level()), id, byCommand())
		return p.print("token %d is revoked", id)
	})
}

// byCommand says who runs a command, for the log: the user of the operating system.
func byCommand() slog.Attr {
	name := strconv.Itoa(os.Getuid())
	if account, err := user.Current(); err == nil {
		name = account.Username
	}
	return slog.String("by", "command of user "+name)
}

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
	schema := migrations.Options{NoMigrate: true, BeforeCreate: p.openEmptyBucket}
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
		err := b.orders.AddMerchant(ctx, c.id, c.Name, order.MerchantOptions{})
		if errors.Is(err, order.ErrMerchantExists) {
			return fmt.Errorf("merchant %d exists already, with another name", c.id)
		}
		if err != nil {
			return err
		}
		return p.print("merchant %d: %s", c.id, c.Name)
	})
}

type merchantList struct {
	alwaysValid
	jsonFlag
}

// merchantJSON is the JSON output of a merchant.
type merchantJSON struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
}

func (c *merchantList) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, existing, func(b *backend) error {
		merchants, err := b.orders.Merchants(ctx)
		if err != nil {
			return err
		}
		return printList(p, c.jsonFlag, []string{"ID", "NAME", "CREATED"}, merchants, func(m order.Merchant) []string {
			return []string{strconv.FormatInt(m.ID, 10), oneLine(m.Name), timestamp(m.CreatedAt)}
		}, func(m order.Merchant) merchantJSON {
			return merchantJSON{ID: m.ID, Name: m.Name, CreatedAt: utc(m.CreatedAt)}
		})
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

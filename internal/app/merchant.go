package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"merchantorders/internal/config"
	"merchantorders/internal/order"
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
	return p.withBackend(ctx, func(b *backend) error {
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
	return p.withBackend(ctx, func(b *backend) error {
		merchants, err := b.orders.Merchants(ctx)
		if err != nil {
			return err
		}
		return printTable(p, []string{"ID", "NAME", "CREATED"}, merchants, func(m order.Merchant) []string {
			return []string{strconv.FormatInt(m.ID, 10), oneLine(m.Name), timestamp(m.CreatedAt)}
		})
	})
}

package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
)

// merchantTarget is the merchant that a command shows or changes.
type merchantTarget struct {
	jsonFlag
	ID string `name:"id" aliases:"merchant" placeholder:"N" help:"Store id of the merchant. Required."`

	id int64
}

func (c *merchantTarget) check() error {
	var f flagValues
	c.id = f.id("id", c.ID)
	return f.err()
}

// noMerchant returns the error for a merchant that does not exist, with a command that
// helps, and every other error unchanged.
func noMerchant(id int64, help string, err error) error {
	if errors.Is(err, order.ErrMerchantNotFound) || errors.Is(err, delivery.ErrNoMerchant) {
		return fmt.Errorf("there is no merchant %d: see %q", id, programName+" "+help)
	}
	return err
}

// print prints the merchant that a command has shown or changed, as JSON or one line.
func (c *merchantTarget) print(p *process, m order.Merchant, err error, format string, args ...any) error {
	if err != nil {
		return noMerchant(c.id, "merchant list", err)
	}
	return p.printResult(c.JSON, newMerchantJSON(m), format, args...)
}

type merchantShow struct{ merchantTarget }

func (c *merchantShow) runOn(ctx context.Context, p *process, b *app.Backend) error {
	m, err := b.Merchants.Get(ctx, c.id)
	if err != nil || c.JSON {
		return c.print(p, m, err, "")
	}
	fields := [][]string{
		{"Name", app.OneLine(m.Name)},
		{"Created", timestamp(m.CreatedAt)},
		{"Suspended", timestamp(m.SuspendedAt)},
		{"Reason", textOr(m.SuspensionReason)},
		{"Requests a second", limitText(m.RateLimit.PerSecond)},
		{"Burst", limitText(m.RateLimit.Burst)},
		{"Time zone", cmp.Or(m.TimeZone, "default")},
	}
	return p.printSections(section{[]string{"MERCHANT", strconv.FormatInt(m.ID, 10)}, fields})
}

// limitText formats a limit; 0 is that of the service.
func limitText(n int) string {
	if n == 0 {
		return "default"
	}
	return strconv.Itoa(n)
}

type merchantRename struct {
	merchantTarget
	Name string `name:"name" placeholder:"TEXT" help:"New name of the merchant. v1 shows it as company_name. Required."`
}

func (c *merchantRename) check() error {
	return errors.Join(c.merchantTarget.check(), config.Invalid("name", order.MerchantNameProblem(c.Name)))
}

func (c *merchantRename) runOn(ctx context.Context, p *process, b *app.Backend) error {
	m, err := b.Merchants.Update(ctx, p.caller, c.id, order.MerchantUpdate{Name: &c.Name}, order.Options[order.Merchant]{})
	return c.print(p, m, err, "merchant %d: %s", m.ID, m.Name)
}

type merchantTimeZone struct {
	merchantTarget
	Zone *string `name:"time-zone" placeholder:"NAME" help:"Name of the time zone, such as Europe/Athens. Empty: that of serve --time-zone. Required."`
}

func (c *merchantTimeZone) check() error {
	var f flagValues
	switch {
	case c.Zone == nil:
		f.refuse("time-zone", "is required")
	case *c.Zone != "":
		f.refuse("time-zone", order.TimeZoneProblem(*c.Zone))
	}
	return errors.Join(c.merchantTarget.check(), f.err())
}

func (c *merchantTimeZone) runOn(ctx context.Context, p *process, b *app.Backend) error {
	m, err := b.Merchants.Update(ctx, p.caller, c.id, order.MerchantUpdate{TimeZone: c.Zone}, order.Options[order.Merchant]{})
	return c.print(p, m, err, "merchant %d: time zone %s", m.ID, cmp.Or(m.TimeZone, "default"))
}

type merchantSuspend struct {
	merchantTarget
	Reason string `name:"reason" placeholder:"TEXT" help:"Reason, for operators. Required."`
}

func (c *merchantSuspend) check() error {
	return errors.Join(c.merchantTarget.check(), config.Invalid("reason", order.SuspensionReasonProblem(c.Reason)))
}

func (c *merchantSuspend) runOn(ctx context.Context, p *process, b *app.Backend) error {
	m, err := b.Merchants.Suspend(ctx, p.caller, c.id, c.Reason, order.Options[order.Merchant]{})
	return c.print(p, m, err, "merchant %d is suspended since %s: %s", m.ID, timestamp(m.SuspendedAt), m.SuspensionReason)
}

type merchantResume struct{ merchantTarget }

func (c *merchantResume) runOn(ctx context.Context, p *process, b *app.Backend) error {
	m, err := b.Merchants.Resume(ctx, p.caller, c.id, order.Options[order.Merchant]{})
	return c.print(p, m, err, "merchant %d is not suspended", m.ID)
}

type merchantLimit struct {
	merchantTarget
	Requests string `name:"requests" placeholder:"N" help:"Requests a second of each token of the merchant. 0: the limit of serve --rate-limit. Required."`
	Burst    string `name:"burst" placeholder:"N" help:"Requests that an idle token may send at once. Empty: twice --requests."`

	limit order.RateLimit
}

func (c *merchantLimit) check() error {
	var f flagValues
	if c.Requests != "0" {
		c.limit = order.NewRateLimit(f.upTo("requests", c.Requests, order.MaxRequestsPerSecond))
	}
	switch {
	case c.Burst != "" && c.Requests == "0":
		f.refuse("burst", "must not be given together with --requests 0")
	case c.Burst != "":
		c.limit.Burst = f.upTo("burst", c.Burst, order.MaxBurst)
	}
	return errors.Join(c.merchantTarget.check(), f.err())
}

func (c *merchantLimit) runOn(ctx context.Context, p *process, b *app.Backend) error {
	m, err := b.Merchants.Update(ctx, p.caller, c.id, order.MerchantUpdate{RateLimit: &c.limit}, order.Options[order.Merchant]{})
	return c.print(p, m, err, "merchant %d: requests a second %s, burst %s", m.ID, limitText(m.RateLimit.PerSecond), limitText(m.RateLimit.Burst))
}

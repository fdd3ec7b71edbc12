package commands

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/demo"
	"merchantorders/internal/order"
)

type simulateCommand struct {
	Merchant string `placeholder:"N" help:"Id of the merchant who gets the orders. Required."`
	Rate     string `default:"5" placeholder:"N" help:"Orders a minute, on average."`
	Seed     string `default:"1" placeholder:"N" help:"Number that decides which orders are created and what happens to them. The same seed gives the same orders."`
	Speed    string `default:"60" placeholder:"N" help:"How many times faster than real time the marketplace acts: with 60, a carrier that takes a day takes 24 minutes, and orders expire after 48 minutes. 1: real time."`
	Accept   string `default:"0" placeholder:"PERCENT" help:"Percentage of the orders that the simulator accepts or rejects in place of the merchant. It accepts nine of ten of these."`
	Count    string `default:"0" placeholder:"N" help:"Number of orders to create. The command ends when all of them are in their last state. 0: no limit."`
	Yes      bool   `help:"Do not ask. Without it, and without --sandbox or --demo in the environment or the settings file, the command asks on a terminal, and refuses elsewhere."`
	Duration string `default:"0s" placeholder:"DURATION" help:"Time after which the command ends, such as 30m. 0s: when it is stopped."`

	settings demo.Settings
	duration time.Duration
}

// Limits of the flags of simulate.
const (
	maxRate  = 60_000 // orders a minute
	maxSpeed = 100_000
)

func (c *simulateCommand) check() error {
	var f flagValues
	c.settings.MerchantID = f.id("merchant", c.Merchant)
	c.settings.Rate = f.number("rate", c.Rate, 0.01, maxRate)
	c.settings.Seed = f.wholeNumber("seed", c.Seed, math.MaxUint32)
	c.settings.Speed = f.number("speed", c.Speed, 0.01, maxSpeed)
	c.settings.Accept = int(f.wholeNumber("accept", c.Accept, 100))
	c.settings.Count = f.wholeNumber("count", c.Count, 1e9)
	c.duration = f.duration("duration", c.Duration)
	return f.err()
}

func (c *simulateCommand) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, current, func(b *app.Backend) error {
		merchant, err := b.Merchants.Get(ctx, c.settings.MerchantID)
		if err != nil {
			return noMerchant(c.settings.MerchantID, "merchant add --help", err)
		}
		if err := c.confirm(ctx, p, merchant); err != nil {
			return err
		}
		c.settings.Observe = func(at time.Time, reference string, state order.State) {
			_ = p.print("%s  %s  %s", timestamp(at), reference, state)
		}
		return c.live(ctx, p, demo.NewSimulator(b.Orders, c.settings))
	})
}

// confirm asks whether a merchant of an installation that is no sandbox may get simulated
// orders: they cannot be told from those of customers, and some of its own are cancelled.
func (c *simulateCommand) confirm(ctx context.Context, p *process, merchant order.Merchant) error {
	for _, flag := range []string{"sandbox", "demo"} {
		if value, _, err := p.Sources.Lookup(config.Flag{Name: flag, Bool: true}); err == nil && value == "true" {
			return nil
		}
	}
	question := fmt.Sprintf("simulate creates orders of merchant %d (%s), and changes the states of its orders", merchant.ID, merchant.Name)
	return p.confirm(ctx, c.Yes, question)
}

// live runs the simulator until it has nothing left to do or is stopped. It waits while
// the database is unavailable.
func (c *simulateCommand) live(ctx context.Context, p *process, s *demo.Simulator) error {
	end := p.Now().Add(c.duration)
	ticker := time.NewTicker(demo.Interval)
	defer ticker.Stop()
	for {
		// A change that has begun is finished after ctx ends.
		done, err := s.Step(context.WithoutCancel(ctx))
		switch {
		case errors.Is(err, order.ErrUnavailable):
			p.printError("%v; trying again", err)
		case err != nil || done || c.duration > 0 && !p.Now().Before(end):
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

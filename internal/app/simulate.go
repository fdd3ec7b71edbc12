package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/demo"
	"merchantorders/internal/order"
	"merchantorders/internal/webhook"
)

type simulateCommand struct {
	Merchant string `placeholder:"N" help:"Id of the merchant who gets the orders. Required."`
	Rate     string `default:"5" placeholder:"N" help:"Orders a minute, on average."`
	Seed     string `default:"1" placeholder:"N" help:"Number that decides which orders are created and what happens to them. The same seed gives the same orders."`
	Speed    string `default:"60" placeholder:"N" help:"How many times faster than real time the marketplace acts: with 60, a carrier that takes a day takes 24 minutes, and orders expire after 48 minutes. 1: real time."`
	Accept   string `default:"0" placeholder:"PERCENT" help:"Percentage of the orders that the simulator accepts or rejects in place of the merchant. It accepts nine of ten of these."`
	Count    string `default:"0" placeholder:"N" help:"Number of orders to create. The command ends when all of them are in their last state. 0: no limit."`
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
	var merchant, rate, seed, speed, accept, count, length string
	c.settings.MerchantID, merchant = positive(c.Merchant)
	c.settings.Rate, rate = number(c.Rate, 0.01, maxRate)
	c.settings.Speed, speed = number(c.Speed, 0.01, maxSpeed)
	var share uint64
	share, accept = wholeNumber(c.Accept, 100)
	c.settings.Count, count = wholeNumber(c.Count, 1e9)
	c.settings.Accept = int(share)
	c.settings.Seed, seed = wholeNumber(c.Seed, math.MaxUint32)
	c.duration, length = duration(c.Duration, 0)
	return errors.Join(config.Invalid("merchant", merchant), config.Invalid("rate", rate), config.Invalid("seed", seed),
		config.Invalid("speed", speed), config.Invalid("accept", accept), config.Invalid("count", count), config.Invalid("duration", length))
}

// number parses a number from min to max.
func number(text string, min, max float64) (float64, string) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= min && n <= max) {
		return 0, fmt.Sprintf("must be a number from %v to %v", min, max)
	}
	return n, ""
}

// wholeNumber parses a whole number from 0 to max.
func wholeNumber(text string, max uint64) (uint64, string) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > max {
		return 0, fmt.Sprintf("must be a whole number from 0 to %d", max)
	}
	return n, ""
}

func (c *simulateCommand) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, current, func(b *backend) error {
		merchants, err := b.orders.Merchants(ctx, order.MerchantFilter{})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(merchants, func(m order.Merchant) bool { return m.ID == c.settings.MerchantID }) {
			return fmt.Errorf("there is no merchant %d: see %q", c.settings.MerchantID, programName+" merchant add --help")
		}
		c.settings.Observe = func(at time.Time, reference string, state order.State) {
			_ = p.print("%s  %s  %s", timestamp(at), reference, state)
		}
		return c.live(ctx, p, demo.NewSimulator(b.orders, c.settings))
	})
}

// live runs the simulator until it has nothing left to do or is stopped. It waits while
// the database is unavailable.
func (c *simulateCommand) live(ctx context.Context, p *process, s *demo.Simulator) error {
	end := p.now().Add(c.duration)
	ticker := time.NewTicker(simulateInterval)
	defer ticker.Stop()
	for {
		// A change that has begun is finished after ctx ends.
		done, err := s.Step(context.WithoutCancel(ctx))
		switch {
		case errors.Is(err, order.ErrUnavailable):
			p.printError("%v; trying again", err)
		case err != nil || done || c.duration > 0 && !p.now().Before(end):
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// twicePoster sends messages to the endpoints of a sandbox: twice, if the query of the
// endpoint's URL has sandbox-fault=twice. The second result counts.
type twicePoster struct{ webhook.Poster }

// Post implements webhook.Poster.
func (p twicePoster) Post(ctx context.Context, m webhook.Message) webhook.Result {
	if u, err := url.Parse(m.URL); err == nil && u.Query().Get("sandbox-fault") == "twice" {
		p.Poster.Post(ctx, m)
	}
	return p.Poster.Post(ctx, m)
}

// wait waits for a time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// simulateInterval is the time between two steps of a simulator.
const simulateInterval = time.Second

// demoLife is how the marketplace of serve --demo lives. The first order comes late, so
// that the printed commands show what they are said to show.
var demoLife = demo.Settings{MerchantID: demo.MerchantID, Seed: 1, Rate: 1, Speed: 60, Delay: 2 * time.Minute, Demo: true}

// startSimulator starts the marketplace of serve --demo. The returned function stops it
// and waits until it has ended.
func (s *server) startSimulator() (stop func()) {
	simulator, group := demo.NewSimulator(s.orders, demoLife), s.jobs.newGroup()
	group.every("simulate the marketplace", simulateInterval, false, func(ctx context.Context) error {
		_, err := simulator.Step(context.WithoutCancel(ctx))
		return err
	})
	return group.stop
}

package app

import (
	"context"
	"net/url"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/demo"
)

// twicePoster sends messages to the endpoints of a sandbox: twice, if the query of the
// endpoint's URL has sandbox-fault=twice. The second result counts.
type twicePoster struct{ webhook.Poster }

// Post implements webhook.Poster.
func (p twicePoster) Post(ctx context.Context, m webhook.Message) delivery.Result {
	if u, err := url.Parse(m.URL); err == nil && u.Query().Get("sandbox-fault") == "twice" {
		p.Poster.Post(ctx, m)
	}
	return p.Poster.Post(ctx, m)
}

// demoLife is how the marketplace of serve --demo lives. The first order comes late, so
// that the printed commands show what they are said to show.
var demoLife = demo.Settings{MerchantID: demo.MerchantID, Seed: 1, Rate: 1, Speed: 60, Delay: 2 * time.Minute, Demo: true}

// startSimulator starts the marketplace of serve --demo. The returned function stops it
// and waits until it has ended.
func (s *server) startSimulator() (stop func()) {
	simulator, group := demo.NewSimulator(s.Orders, demoLife), s.jobs.newGroup()
	group.every("simulate the marketplace", demo.Interval, false, func(ctx context.Context) error {
		_, err := simulator.Step(context.WithoutCancel(ctx))
		return err
	})
	return group.stop
}

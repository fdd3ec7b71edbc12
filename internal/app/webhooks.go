package app

import (
	"context"
	"math/rand/v2"
	"time"

	v2 "merchantorders/internal/api/v2"
	"merchantorders/internal/webhook"
)

// startWebhooks makes the service and the sender of webhooks.
func (s *server) startWebhooks() {
	var client webhook.Poster = webhook.NewClient(s.Flags.WebhookAllowPrivate)
	if s.sandbox() {
		client = twicePoster{client}
	}
	if s.Tracing != nil {
		client = s.Tracing.Poster(client)
	}
	s.sender = webhook.NewSender(webhook.Options{
		Store: s.DB, Poster: client, Encoder: v2.EventEncoder{}, Now: s.Now, Random: rand.Float64, Log: s.log,
	})
	s.webhooks = webhook.NewService(webhook.ServiceOptions{
		Store: s.DB, Poster: client, Encoder: v2.EventEncoder{}, Now: s.Now,
		AllowPrivate: s.Flags.WebhookAllowPrivate, Added: s.sender.Added,
	})
	s.Orders.OnChange(s.sender.Changed)
}

// deliveriesInterval is the interval of deleting old deliveries from the log.
const deliveriesInterval = time.Hour

// runSender starts the delivery of webhooks, unless the settings turn it off, and the
// deletion of old deliveries. The returned function stops both and waits until their
// requests have ended.
func (s *server) runSender() (stop func()) {
	group := s.jobs.newGroup()
	if !s.Flags.NoWebhooks {
		group.running.Go(func() { s.sender.Run(group.ctx) })
	}
	group.every("delete webhook deliveries", deliveriesInterval, false, func(ctx context.Context) error {
		_, err := s.webhooks.DeleteOldDeliveries(ctx)
		return err
	})
	return group.stop
}

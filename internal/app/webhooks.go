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
	var client webhook.Poster = webhook.NewClient(s.flags.WebhookAllowPrivate)
	if s.sandbox() {
		client = twicePoster{client}
	}
	if s.tracing != nil {
		client = s.tracing.Poster(client)
	}
	s.sender = webhook.NewSender(webhook.Options{
		Store: s.db, Poster: client, Encoder: v2.EventEncoder{}, Now: s.now, Random: rand.Float64, Log: s.log,
	})
	s.webhooks = webhook.NewService(webhook.ServiceOptions{
		Store: s.db, Poster: client, Encoder: v2.EventEncoder{}, Now: s.now,
		AllowPrivate: s.flags.WebhookAllowPrivate, Added: s.sender.Added,
	})
	s.orders.OnChange(s.sender.Changed)
}

// deliveriesInterval is the interval of deleting old deliveries from the log.
const deliveriesInterval = time.Hour

// runSender starts the delivery of webhooks, unless the settings turn it off, and the
// deletion of old deliveries. The returned function stops both and waits until their
// requests have ended.
func (s *server) runSender() (stop func()) {
	group := s.jobs.newGroup()
	if !s.flags.NoWebhooks {
		group.running.Go(func() { s.sender.Run(group.ctx) })
	}
	group.every("delete webhook deliveries", deliveriesInterval, false, func(ctx context.Context) error {
		_, err := s.webhooks.DeleteOldDeliveries(ctx)
		return err
	})
	return group.stop
}

package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// TestWebhooksAgainstService makes every call about webhooks.
// Proves decision 5 (webhooks: requests), decision 9 (include=order).
func TestWebhooksAgainstService(t *testing.T) {
	t.Parallel()
	server, _ := start(t, 0, "--webhook-allow-private")
	c := connect(t, server.BaseURL, server.Folder.Token(t, "--merchant", "355", "--scopes", "webhooks,orders:read,orders:write"))
	ctx, received := t.Context(), make(chan client.Event, 10)
	var secret string
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		events, err := client.WebhookEvents(r.Header, body, secret)
		if err != nil {
			t.Error(err)
		}
		for _, event := range events {
			received <- event
		}
	}))
	t.Cleanup(receiver.Close)
	zero, no, none := int64(0), false, client.Include("")
	added, text, err := c.AddWebhook(ctx, client.NewWebhook{URL: receiver.URL, Description: "a", Types: []client.EventType{client.OrderCreated}, Include: client.IncludeOrder, Batch: 10, After: &zero})
	if err != nil || text == "" || added.State != "active" || len(added.Types) != 1 || added.Batch != 10 {
		t.Fatalf("%+v, %v", added, err)
	}
	secret = text
	if sent, err := c.SendTestEvent(ctx, added.ID); err != nil || sent.Error != "" || (<-received).Type != client.WebhookTest {
		t.Errorf("%+v, %v", sent, err)
	}
	server.Import(t, ingesttest.Document(1))
	if event := <-received; event.Seq != 1 || event.OrderReference != ingesttest.Reference(1) || event.Order == nil || event.Order.State != client.Registered {
		t.Errorf("received %+v", event)
	}
	// The order is that of the time of the delivery.
	testenv.NoError(t, c.Accept(ctx, ingesttest.Reference(1)))
	testenv.Equal(t, "the redelivery's error", "", testenv.Of(c.RedeliverEvent(ctx, added.ID, 1)).Must(t).Error)
	if event := <-received; event.Order == nil || event.Order.State != client.InProcessing {
		t.Errorf("received %+v", event)
	}
	changed, err := c.ChangeWebhook(ctx, added.ID, client.WebhookChange{Enabled: &no, Include: &none, Batch: new(1)})
	if err != nil || changed.State != "disabled" || changed.Include != "" || changed.Batch != 1 {
		t.Errorf("%+v, %v", changed, err)
	}
	rotated, text, err := c.RotateWebhookSecret(ctx, added.ID, time.Hour)
	if err != nil || text == "" || text == secret || rotated.OldSecretUntil.IsZero() {
		t.Errorf("%+v, %v", rotated, err)
	}
	if sent, err := c.RedeliverEvent(ctx, added.ID, 1); err != nil || sent.Event != 1 || (<-received).Order != nil {
		t.Errorf("%+v, %v", sent, err)
	}
	testenv.Equal(t, "acknowledged after the replay", 0, testenv.Of(c.ReplayEvents(ctx, added.ID, 0)).Must(t).Acknowledged)
	deliveries, err := c.Deliveries(ctx, added.ID, 0, 1)
	if err != nil || len(deliveries) != 1 || deliveries[0].Status != 200 {
		t.Errorf("%+v, %v", deliveries, err)
	}
	list, err := c.Webhooks(ctx)
	if one, err2 := c.Webhook(ctx, added.ID); err != nil || err2 != nil || len(list) != 1 || one.ID != list[0].ID {
		t.Errorf("%+v %+v, %v, %v", list, one, err, err2)
	}
	testenv.NoError(t, c.RemoveWebhook(ctx, added.ID))
	testenv.Of(c.Webhook(ctx, added.ID)).WantError(t, "after the removal", client.ErrWebhookNotFound)
}

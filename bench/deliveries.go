package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

const (
	// maxDeliveries is how many events the webhook gets.
	maxDeliveries = 2000
	// deliveriesTimeout is how long they may take.
	deliveriesTimeout = 5 * time.Minute
)

// measureDeliveries measures how fast a webhook of the marketplace delivers the events of
// all merchants, one after the other, to a receiver that acknowledges at once.
func (i *installation) measureDeliveries(ctx context.Context) error {
	const name = "Deliveries of the marketplace's webhook"
	if !i.wants(name) {
		return nil
	}
	operator, err := i.run(ctx, "token", "create", "--operator")
	if err != nil {
		return err
	}
	want := 0
	for _, m := range i.all() {
		want += m.count // each order has an event
	}
	want = min(want, maxDeliveries)
	return i.withServer(ctx, func(server *process) (err error) {
		var received atomic.Int64
		begin, end := make(chan time.Time, 1), make(chan time.Time, 1)
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			n := int(received.Add(1))
			if n == 1 {
				begin <- time.Now()
			}
			if n == want {
				end <- time.Now()
			}
		}))
		defer receiver.Close()
		c, err := dial(server.adminURL, operator)
		if err != nil {
			return err
		}
		defer c.close()
		const path = "/operator/merchants/all/webhooks"
		var added struct{ Webhook struct{ ID json.Number } }
		if err := c.post(path, `{"url":"`+receiver.URL+`","cursor":""}`, &added); err != nil {
			return err
		}
		defer func() {
			response, body, removeErr := c.send(http.MethodDelete, path+"/"+added.Webhook.ID.String(), "", nil)
			err = errors.Join(err, checkOK(response, body, removeErr, path))
		}()
		select {
		case last := <-end:
			i.add(name, thousands(perSecond(want-1, last.Sub(<-begin)))+"/s", "", thousands(float64(want))+" events, one after the other")
			return nil
		case <-time.After(deliveriesTimeout):
			return fmt.Errorf("%d of %d deliveries", received.Load(), want)
		case <-ctx.Done():
			return ctx.Err()
		}
	}, "--webhook-allow-private")
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
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
	want := 0
	for _, m := range i.all() {
		want += m.count // each order has an event
	}
	want = min(want, maxDeliveries)
	return i.withServer(ctx, func(server *process) error {
		elapsed, err := i.deliver(ctx, server, want)
		if err == nil {
			i.add(name, thousands(perSecond(want-1, elapsed))+"/s", "", thousands(float64(want))+" events, one after the other")
		}
		return err
	}, "--webhook-allow-private")
}

// deliver adds a webhook of the marketplace, waits until it has got the oldest events, and
// returns how long after the first one the last one came.
func (i *installation) deliver(ctx context.Context, server *process, want int) (elapsed time.Duration, err error) {
	operator, err := i.run(ctx, "token", "create", "--operator")
	if err != nil {
		return 0, err
	}
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
		return 0, err
	}
	defer c.close()
	const path = "/operator/merchants/all/webhooks"
	var added struct{ Webhook struct{ ID json.Number } }
	if err := c.post(path, `{"url":"`+receiver.URL+`","cursor":""}`, &added); err != nil {
		return 0, err
	}
	defer func() {
		response, body, removeErr := c.send(http.MethodDelete, path+"/"+added.Webhook.ID.String(), "", nil)
		err = errors.Join(err, checkOK(response, body, removeErr, path))
	}()
	select {
	case last := <-end:
		return last.Sub(<-begin), nil
	case <-time.After(deliveriesTimeout):
		return 0, fmt.Errorf("%d of %d deliveries", received.Load(), want)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

const (
	// receiverPause is how long a receiver takes for a request, as one in another network does.
	receiverPause = 100 * time.Millisecond
	// largestBatch is the largest batch that a webhook may have.
	largestBatch = 100
	// singleEvents is how many events a webhook gets one by one, to compare.
	singleEvents = 30
	// busyReceivers is to how many webhooks the service delivers at once.
	busyReceivers = 128
)

// measureBatches measures how long the events of merchants take to their receivers in
// batches, and compares the rate with that of single events.
func (i *installation) measureBatches(ctx context.Context) error {
	const format = "Deliveries answered after 100 ms, receivers and events of each: %s, %s"
	for _, c := range []struct {
		receivers, events int
		goal              time.Duration
	}{{1, min(10_000, i.large), 20 * time.Second}, {min(2000, i.large/100), 100, time.Minute}} {
		name := fmt.Sprintf(format, thousands(float64(c.receivers)), thousands(float64(c.events)))
		if !i.wants(name) {
			continue
		}
		singles, all := singleEvents*min(c.receivers, busyReceivers), c.receivers*c.events
		single, batched, err := i.compareBatches(ctx, c.receivers, singles, all)
		if err != nil {
			return err
		}
		before, after := perSecond(singles, single), perSecond(all, batched)
		i.add(name, fmt.Sprintf("%.1f s", batched.Seconds()), fmt.Sprintf("≤ %.0f s", c.goal.Seconds()),
			fmt.Sprintf("batches of %d: %s events/s, one by one %s/s: ratio %s", largestBatch, thousands(after), thousands(before), ratio(after/before)))
	}
	return nil
}

// compareBatches returns how long some of the events of merchants take one by one, and all
// of them in batches.
func (i *installation) compareBatches(ctx context.Context, merchants, singles, all int) (single, batched time.Duration, err error) {
	receivers, remove, err := i.newInstallation(i.database, "receivers")
	if err != nil {
		return 0, 0, err
	}
	defer remove()
	b := &backlog{installation: receivers, merchants: merchants}
	if err := b.fill(ctx, all); err != nil {
		return 0, 0, err
	}
	if single, err = b.deliver(ctx, 1, singles); err != nil {
		return 0, 0, fmt.Errorf("one by one: %w", err)
	}
	if batched, err = b.deliver(ctx, largestBatch, all); err != nil {
		return 0, 0, fmt.Errorf("in batches: %w", err)
	}
	return single, batched, nil
}

// backlog is an installation with merchants that have the same number of events each, and
// whose webhooks lead to one server.
type backlog struct {
	*installation
	merchants int
	operator  string

	mu       sync.Mutex
	received []int // by merchant: the number of the newest event
	total    int
	wanted   int        // in total
	begin    time.Time  // of the first request
	end      chan error // see finish
}

// fill imports the orders that make the events.
func (b *backlog) fill(ctx context.Context, orders int) error {
	var names bytes.Buffer
	for m := range b.merchants {
		fmt.Fprintf(&names, `{"id":%d,"name":"Store %d"}`+"\n", storeID(m), m)
	}
	if _, err := b.runWith(ctx, &names, "merchant", "add", "-"); err != nil {
		return err
	}
	reader, writer := io.Pipe()
	go func() {
		var err error
		for n := 0; n < orders && err == nil; n++ {
			_, err = writer.Write(append(orderDocument(1+n, storeID(n%b.merchants), "registered", newest), '\n'))
		}
		writer.CloseWithError(err)
	}()
	_, err := b.runWith(ctx, reader, "import", "-")
	_ = reader.Close()
	if err == nil {
		b.operator, err = b.run(ctx, "token", "create", "--operator")
	}
	if err == nil {
		err = b.analyze(ctx)
	}
	return err
}

// deliver returns the time from the first request to the response of the last one that is
// needed for so many events. It begins with the first events.
func (b *backlog) deliver(ctx context.Context, batch, wanted int) (elapsed time.Duration, err error) {
	b.received, b.total, b.wanted, b.begin, b.end = make([]int, b.merchants), 0, wanted, time.Time{}, make(chan error, 1)
	server := httptest.NewServer(b)
	defer server.Close()
	const private, paused = "--webhook-allow-private", "--no-webhooks"
	paths := make([]string, b.merchants)
	each := func(fn func(c *connection, n int) error) error {
		return b.withServer(ctx, func(p *process) error { return concurrently(p.adminURL, b.operator, b.clients, b.merchants, fn) }, private, paused)
	}
	if err := each(func(c *connection, n int) error {
		var added struct{ Webhook struct{ ID json.Number } }
		paths[n] = fmt.Sprintf("/operator/merchants/%d/webhooks", storeID(n))
		err := c.post(paths[n], fmt.Sprintf(`{"url":"%s/%d","after":0,"batch":%d}`, server.URL, n, batch), &added)
		paths[n] += "/" + added.Webhook.ID.String()
		return err
	}); err != nil {
		return 0, err
	}
	err = b.withServer(ctx, func(*process) error {
		select {
		case err := <-b.end:
			elapsed = time.Since(b.begin)
			return err
		case <-time.After(deliveriesTimeout):
			return fmt.Errorf("not all of %d events have arrived", wanted)
		case <-ctx.Done():
			return ctx.Err()
		}
	}, private)
	return elapsed, errors.Join(err, each(func(c *connection, n int) error {
		response, body, err := c.send(http.MethodDelete, paths[n], "", nil)
		return checkOK(response, body, err, paths[n])
	}))
}

// numbers finds the numbers of the events of a delivery.
var numbers = regexp.MustCompile(`"seq":(\d+)`)

// ServeHTTP takes the events of a delivery, and acknowledges them after a while.
func (b *backlog) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	if b.begin.IsZero() {
		b.begin = time.Now()
	}
	b.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the server has ended
	}
	time.Sleep(receiverPause)
	merchant, _ := strconv.Atoi(r.URL.Path[1:])
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, match := range numbers.FindAllSubmatch(body, -1) {
		seq, _ := strconv.Atoi(string(match[1]))
		switch newest := b.received[merchant]; {
		case seq > newest+1:
			b.finish(fmt.Errorf("event %d of merchant %d comes after %d", seq, merchant, newest))
		case seq > newest:
			b.received[merchant] = seq
			if b.total++; b.total == b.wanted {
				b.finish(nil)
			}
		}
	}
}

// finish ends deliver, unless something else has.
func (b *backlog) finish(err error) {
	select {
	case b.end <- err:
	default:
	}
}

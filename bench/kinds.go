package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// kind is a kind of rows that grow while a service is used, also where all orders are
// answered, all tokens have ended and everything was delivered.
type kind struct {
	name string
	// add adds the rows with the numbers after from, up to to, on an installation with a
	// merchant K, through the interfaces.
	add func(ctx context.Context, i *installation, s *subject, from, to int) error
}

var kinds = []kind{
	{"tokens", addLines(`{"merchantId":1006,"label":"ended %d","expires":"1s"}`, 0, "token", "create", "-")},
	{"sessions", addEach(byOperator, (*subject).signInByLink)},
	{"links", addEach(byOperator, func(s *subject, c *connection, _ int) error {
		return c.post("/operator/merchants/1006/login-link", "{}", new(struct{}))
	})},
	{"events and audit entries", addEach(byMerchant, func(s *subject, c *connection, n int) error { return s.note(c, "", n) })},
	{"keys", addEach(byMerchant, func(s *subject, c *connection, n int) error {
		return s.note(c, fmt.Sprintf("Idempotency-Key: grown-%d\r\n", n), n)
	})},
	{"deliveries", addEach(byMerchant, func(s *subject, c *connection, _ int) error {
		return c.post(s.names.Replace("/v2/webhooks/{webhook}/test"), "", new(struct{}))
	})},
	{"merchants", addLines(`{"id":%d,"name":"Store"}`, 10_000, "merchant", "add", "-")},
	{"webhooks", addEach(byOperator, func(s *subject, c *connection, n int) error {
		return c.post(fmt.Sprintf("/operator/merchants/%d/webhooks", 10_000+n), `{"url":"http://127.0.0.1:1/hook"}`, new(struct{}))
	})},
}

// kindCases are the requests whose time must not grow. After a hundred tokens of a day the
// service refuses more, as long as it takes to count them.
var kindCases = []growthCase{
	{name: "accept", method: http.MethodPatch, path: "/v2/orders/{open}/accept", who: byMerchant},
	{name: "accept with key", method: http.MethodPatch, path: "/v2/orders/{open}/accept", who: byMerchant, keyed: true},
	{name: "list", path: "/v2/orders", who: byMerchant},
	{name: "one order", path: "/v2/orders/{order}", who: byMerchant},
	{name: "export", path: "/v2/orders/export?dateFrom=2026-11-20", who: byMerchant},
	{name: "feed", path: "/v2/events", who: byMerchant},
	{name: "test of a webhook", method: http.MethodPost, path: "/v2/webhooks/{webhook}/test", who: byMerchant},
	{name: "new token", method: http.MethodPost, path: "/v2/tokens", who: byMerchant, refused: http.StatusConflict},
	{name: "home", path: "/console", who: atConsole},
	{name: "people", path: "/console/people", who: atConsole},
	{name: "audit", path: "/operator/audit?merchantId={id}"},
	{name: "search", path: "/operator/orders?reference={order}"},
	{name: "overview", path: "/operator/overview", whole: true},
	{name: "sign-in by link", do: (*subject).signInByLink},
}

// addLines returns a function that adds rows by a command that reads lines, each with the
// number of the row and what is added to it.
func addLines(format string, first int, command ...string) func(context.Context, *installation, *subject, int, int) error {
	return func(ctx context.Context, i *installation, _ *subject, from, to int) error {
		var lines bytes.Buffer
		for n := from; n < to; n++ {
			fmt.Fprintf(&lines, format+"\n", first+n)
		}
		_, err := i.runWith(ctx, &lines, command...)
		return err
	}
}

// addEach returns a function that adds rows by a request for each.
func addEach(who client, add func(s *subject, c *connection, n int) error) func(context.Context, *installation, *subject, int, int) error {
	return func(ctx context.Context, _ *installation, s *subject, from, to int) error {
		c, err := s.dial(who)
		if err != nil {
			return err
		}
		defer c.close()
		for n := from; n < to && err == nil; n++ {
			if err = ctx.Err(); err == nil {
				err = add(s, c, n)
			}
		}
		return err
	}
}

// signInByLink makes a login link for merchant K and signs in with it.
func (s *subject) signInByLink(c *connection, _ int) error {
	var link struct{ URL string }
	if err := c.post("/operator/merchants/1006/login-link", "{}", &link); err != nil {
		return err
	}
	address, err := url.Parse(link.URL)
	if err != nil {
		return err
	}
	merchants, err := dial(s.server.baseURL, "")
	if err != nil {
		return err
	}
	defer merchants.close()
	response, text, err := merchants.send(http.MethodPost, address.Path, "Content-Type: application/x-www-form-urlencoded\r\n", nil)
	if err == nil && response.StatusCode != http.StatusSeeOther {
		err = fmt.Errorf("sign in by link: status %d: %.300s", response.StatusCode, text)
	}
	return err
}

// note changes the note on an order.
func (s *subject) note(c *connection, headers string, n int) error {
	body, _ := json.Marshal(object{"merchantNote": fmt.Sprint("note ", n)})
	response, text, err := c.send(http.MethodPatch, s.names.Replace("/v2/orders/{order}"), headers+"Content-Type: application/json\r\n", body)
	return checkOK(response, text, err, "change a note")
}

// measureKinds sends the main requests to two installations in alternation. Both have some
// rows of every kind, and then one gets ten times as many, a kind after the other: the first
// row that misses its target names the kind that costs.
func (i *installation) measureKinds(ctx context.Context) error {
	if !i.wants("Growth by each kind") {
		return nil
	}
	k := &merchant{name: "K", id: 1006, first: 1, count: 100 + 2*i.requests*(len(kinds)+1), acceptable: true}
	if err := k.writeDocuments(ctx, i.importFile(k), false); err != nil {
		return err
	}
	var subjects []*subject
	var installations []*installation
	for _, name := range []string{"few", "many"} {
		grown, remove, err := i.newInstallation(i.database, name)
		if err != nil {
			return err
		}
		defer remove()
		if err := grown.addMerchants(ctx, k); err != nil {
			return err
		}
		if _, err := grown.run(ctx, "import", i.importFile(k)); err != nil {
			return err
		}
		server, err := grown.start(ctx, "--webhook-allow-private")
		if err != nil {
			return err
		}
		defer func() { _ = server.stop() }()
		s, err := grown.newSubject(ctx, server, k)
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			if err := kind.add(ctx, grown, s, 0, i.grown); err != nil {
				return fmt.Errorf("%s: %w", kind.name, err)
			}
		}
		subjects, installations = append(subjects, s), append(installations, grown)
	}
	for _, kind := range kinds {
		if err := kind.add(ctx, installations[1], subjects[1], i.grown, 10*i.grown); err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		time.Sleep(2 * time.Second) // the tokens end after one
		for n, grown := range installations {
			if err := grown.analyze(ctx); err != nil {
				return err
			}
			// Many sign-ins may have ended the session.
			var err error
			if subjects[n].cookies[atConsole], err = subjects[n].signIn(atConsole); err != nil {
				return err
			}
		}
		worst, details := 0.0, make([]string, 0, len(kindCases))
		for _, g := range kindCases {
			times, err := i.compare(ctx, g, subjects)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", kind.name, g.name, err)
			}
			grown := float64(times[1].p50) / float64(times[0].p50)
			if !g.whole || kind.name != "merchants" && kind.name != "webhooks" { // it reads a row of each merchant, whose sums it shows
				worst = max(worst, grown)
			}
			details = append(details, g.name+" "+ratio(grown))
		}
		i.add("Growth by each kind, "+kind.name+": 10×/1×", ratio(worst), atMost(1.5), strings.Join(details, ", "))
	}
	return nil
}

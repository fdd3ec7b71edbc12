package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// growthCase is a request beside the lists of the merchant interface. Its time must
// not grow with the number of orders.
type growthCase struct {
	name   string
	method string // empty: GET
	path   string // {id}, {order}, {webhook} and {file} stand for those of the merchant
	who    client
	// whole says that the response is about all merchants. The time is compared with
	// that of an installation that has the orders of A alone.
	whole bool
	// keyed requests have idempotency keys. refused is a status that is no failure either, and
	// do is called in place of a request.
	keyed   bool
	refused int
	do      func(s *subject, c *connection, n int) error
}

// client is who sends the request of a growthCase.
type client uint8

const (
	byOperator client = iota
	byMerchant
	atConsole         // a merchant's session
	operatorAtConsole // an operator's session
)

var growthCases = []growthCase{
	{name: "operator, orders of a merchant", path: "/operator/orders?merchantId={id}"},
	{name: "operator, search by reference", path: "/operator/orders?merchantId={id}&reference={order}"},
	{name: "operator, search by state", path: "/operator/orders?merchantId={id}&" + byState},
	{name: "operator, one order", path: "/operator/orders/{order}"},
	{name: "operator, audit of a merchant", path: "/operator/audit?merchantId={id}"},
	{name: "operator, audit of an order", path: "/operator/audit?orderReference={order}"},
	{name: "operator, one merchant", path: "/operator/merchants/{id}"},
	{name: "operator, tokens of a merchant", path: "/operator/tokens?merchantId={id}"},
	{name: "operator, webhooks of a merchant", path: "/operator/merchants/{id}/webhooks"},
	{name: "operator, deliveries", path: "/operator/merchants/{id}/webhooks/{webhook}/deliveries"},
	{name: "v2, tokens", path: "/v2/tokens", who: byMerchant},
	{name: "v2, webhooks", path: "/v2/webhooks", who: byMerchant},
	{name: "v2, deliveries", path: "/v2/webhooks/{webhook}/deliveries", who: byMerchant},
	{name: "v2, events of an order", path: "/v2/orders/{order}/events", who: byMerchant},
	{name: "v2, feed", path: "/v2/events?after=500", who: byMerchant},
	{name: "v2, 1,000 events with orders", path: "/v2/events?limit=1000&include=order", who: byMerchant},
	{name: "v2, link to a file", method: http.MethodPost, path: "/v2/orders/{order}/invoices/{file}/link", who: byMerchant},
	{name: "console, overview", path: "/console", who: atConsole},
	{name: "console, orders", path: "/console/orders", who: atConsole},
	{name: "console, one order", path: "/console/orders/{order}", who: atConsole},
	{name: "console, webhooks", path: "/console/webhooks", who: atConsole},
	{name: "console of operators, one order", path: "/console/operator/orders/{id}/{order}", who: operatorAtConsole},
	{name: "console of operators, one merchant", path: "/console/operator/merchants/{id}", who: operatorAtConsole},

	{name: "operator, newest orders", path: "/operator/orders", whole: true},
	{name: "operator, search by e-mail address", path: "/operator/orders?email=buyer500@example.com", whole: true},
	{name: "operator, search by name", path: "/operator/orders?name=%CF%80%CE%B1%CF%80%CE%B1%CE%B4%CE%BF", whole: true}, // παπαδο
	{name: "operator, search without result", path: "/operator/orders?q=zzzz", whole: true},
	{name: "operator, events of all merchants", path: "/operator/events", whole: true},
	{name: "operator, 1,000 events with orders", path: "/operator/events?limit=1000&include=order", whole: true},
	{name: "operator, end of all events", path: "/operator/events?cursor=latest", whole: true},
	{name: "operator, overview", path: "/operator/overview", whole: true},
	{name: "operator, merchants", path: "/operator/merchants", whole: true},
	{name: "operator, webhooks", path: "/operator/webhooks", whole: true},
	{name: "operator, audit", path: "/operator/audit", whole: true},
	{name: "console of operators, orders", path: "/console/operator/orders", who: operatorAtConsole, whole: true},
	{name: "console of operators, audit", path: "/console/operator/audit", who: operatorAtConsole, whole: true},
}

// testDeliveries is how many deliveries the log of each webhook has.
const testDeliveries = 10

// measureGrowth sends the same requests about merchants with few and with many orders
// in alternation, one after the other.
func (i *installation) measureGrowth(ctx context.Context) error {
	wanted := false
	for _, g := range growthCases {
		wanted = wanted || i.wants("Growth, "+g.name)
	}
	if !wanted {
		return nil
	}
	alone, remove, err := i.newInstallation(i.database, "alone")
	if err != nil {
		return err
	}
	defer remove()
	if err := alone.addMerchants(ctx, i.a); err != nil {
		return err
	}
	if _, err := alone.run(ctx, "import", i.importFile(i.a)); err != nil {
		return err
	}
	if err := alone.analyze(ctx); err != nil {
		return err
	}
	// The webhooks have an address of the loopback interface, where nothing listens.
	const private = "--webhook-allow-private"
	return alone.withServer(ctx, func(small *process) error {
		return i.withServer(ctx, func(server *process) error {
			return i.measureGrowthOf(ctx, server, small, alone)
		}, private)
	}, private)
}

func (i *installation) measureGrowthOf(ctx context.Context, server, small *process, alone *installation) error {
	subjects := make([]*subject, 3)
	for n, m := range []*merchant{i.a, i.b, i.c} {
		var err error
		if subjects[n], err = i.newSubject(ctx, server, m); err != nil {
			return err
		}
	}
	least, err := alone.newSubject(ctx, small, i.a)
	if err != nil {
		return err
	}
	for _, g := range growthCases {
		name := "Growth, " + g.name
		if !i.wants(name) {
			continue
		}
		compared := subjects
		if g.whole {
			compared = []*subject{least, subjects[1]}
		}
		results, err := i.compare(ctx, g, compared)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		relative := func(n int) string { return ratio(float64(results[n].p50) / float64(results[0].p50)) }
		if g.whole {
			i.add(name+": all/A", relative(1), atMost(1.5), fmt.Sprintf("A alone %s; all merchants %s", results[0], results[1]))
			continue
		}
		i.add(name+": B/A", relative(1), atMost(1.5), fmt.Sprintf("A %s, B %s", milliseconds(results[0].p50), milliseconds(results[1].p50)))
		i.add(name+": C/A", relative(2), atMost(1.5), fmt.Sprintf("C %s, all on one day", milliseconds(results[2].p50)))
	}
	return nil
}

// compare returns the times of a request for each subject.
func (i *installation) compare(ctx context.Context, g growthCase, subjects []*subject) ([]wrkResult, error) {
	// The server closes connections that are idle for long, so each case has its own.
	connections := make([]*connection, len(subjects))
	for n, s := range subjects {
		var err error
		if connections[n], err = s.dial(g.who); err != nil {
			return nil, err
		}
		defer connections[n].close()
	}
	times := make([][]time.Duration, len(subjects))
	for range i.requests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for n, s := range subjects {
			elapsed, err := s.send(connections[n], g)
			if err != nil {
				return nil, err
			}
			times[n] = append(times[n], elapsed)
		}
	}
	results := make([]wrkResult, len(times))
	for n, each := range times {
		var sum time.Duration
		for _, elapsed := range each {
			sum += elapsed
		}
		results[n] = resultOf(each, sum)
	}
	return results, nil
}

// subject is a merchant that requests are about, with what the requests need.
type subject struct {
	names   *strings.Replacer
	server  *process
	tokens  map[client]string
	cookies map[client]string // header fields
	about   *merchant
	sent    int // requests with {open}, which stands for a registered order
}

// newSubject prepares a merchant: a webhook with deliveries, and a file of an order.
func (i *installation) newSubject(ctx context.Context, server *process, m *merchant) (*subject, error) {
	merchantToken, err := i.run(ctx, "token", "create", "--merchant", fmt.Sprint(m.id),
		"--scopes", "orders:read,orders:write,invoices:write,tokens,webhooks")
	if err != nil {
		return nil, err
	}
	operatorToken, err := i.run(ctx, "token", "create", "--operator")
	if err != nil {
		return nil, err
	}
	c, err := dial(server.baseURL, merchantToken)
	if err != nil {
		return nil, err
	}
	defer c.close()
	s := &subject{about: m, server: server, cookies: make(map[client]string), tokens: map[client]string{
		byOperator: operatorToken, byMerchant: merchantToken, atConsole: merchantToken, operatorAtConsole: operatorToken,
	}}
	for _, who := range []client{atConsole, operatorAtConsole} {
		if s.cookies[who], err = s.signIn(who); err != nil {
			return nil, err
		}
	}
	return s, s.prepare(c, m)
}

// dial connects to the port that serves a client.
func (s *subject) dial(who client) (*connection, error) {
	if who == byOperator || who == operatorAtConsole {
		return dial(s.server.adminURL, s.tokens[who])
	}
	return dial(s.server.baseURL, s.tokens[who])
}

// signIn signs a client in at the console and returns the header field of the session.
func (s *subject) signIn(who client) (string, error) {
	c, err := s.dial(who)
	if err != nil {
		return "", err
	}
	defer c.close()
	return c.signIn(s.tokens[who])
}

// prepare makes what the requests are about.
func (s *subject) prepare(c *connection, m *merchant) error {
	reference := m.reference(m.count / 2)
	var added struct{ Webhook struct{ ID json.Number } }
	if err := c.post("/v2/webhooks", `{"url":"http://127.0.0.1:1/hook"}`, &added); err != nil {
		return err
	}
	var uploaded struct{ Invoice struct{ ID json.Number } }
	file := string(uploadBody([]byte("JVBERi0xLjQK")))
	if err := c.post("/v2/orders/"+reference+"/invoices", file, &uploaded); err != nil {
		return err
	}
	webhook := added.Webhook.ID.String()
	for range testDeliveries {
		if err := c.post("/v2/webhooks/"+webhook+"/test", "", new(struct{})); err != nil {
			return err
		}
	}
	s.names = strings.NewReplacer("{id}", fmt.Sprint(m.id), "{order}", reference, "{webhook}", webhook, "{file}", uploaded.Invoice.ID.String())
	return nil
}

// send sends the request of a case and returns how long it took.
func (s *subject) send(c *connection, g growthCase) (time.Duration, error) {
	method, path, headers := g.method, s.names.Replace(g.path), s.cookies[g.who]
	if strings.Contains(path, "{open}") {
		path = strings.ReplaceAll(path, "{open}", s.about.reference(s.about.count-1-s.sent))
		s.sent++
	}
	if g.keyed {
		headers += fmt.Sprintf("Idempotency-Key: accept-%d\r\n", s.sent)
	}
	if method == "" {
		method = http.MethodGet
	}
	start := time.Now()
	if g.do != nil {
		err := g.do(s, c, 0)
		return time.Since(start), err
	}
	response, body, err := c.send(method, path, headers, nil)
	elapsed := time.Since(start)
	if err == nil && response.StatusCode/100 != 2 && response.StatusCode != g.refused {
		err = fmt.Errorf("%s: status %d: %.300s", path, response.StatusCode, body)
	}
	return elapsed, err
}

// post sends a POST request, which must succeed, and decodes the response.
func (c *connection) post(path, body string, into any) error {
	response, text, err := c.send(http.MethodPost, path, "Content-Type: application/json\r\n", []byte(body))
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: status %d: %s", path, response.StatusCode, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// signIn signs in at the console and returns the header field with the session.
func (c *connection) signIn(token string) (string, error) {
	form := "token=" + url.QueryEscape(token)
	response, text, err := c.send(http.MethodPost, "/", "Content-Type: application/x-www-form-urlencoded\r\n", []byte(form))
	if err != nil {
		return "", err
	}
	for _, cookie := range response.Cookies() {
		return "Cookie: " + cookie.Name + "=" + cookie.Value + "\r\n", nil
	}
	return "", fmt.Errorf("sign in at the console: status %d: %.300s", response.StatusCode, text)
}

package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/app"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
	"merchantorders/openapi/openapitest"
)

// webhooksOf are the paths of the webhooks of the first merchant, with the token that
// each needs.
func webhooksOf(s *service) map[string]string {
	return map[string]string{
		"/v2/webhooks":                     s.NewToken(apitest.MerchantID, order.ScopeWebhooks|order.ScopeOrdersRead),
		"/operator/merchants/355/webhooks": s.operator,
	}
}

// TestWebhooks goes through the life of a webhook, for its merchant and for an
// operator.
// Proves decision 5 (webhooks: requests).
func TestWebhooks(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v2/webhooks", "/operator/merchants/355/webhooks"} {
		s := start(t)
		credential := webhooksOf(s)[path]
		send := func(method, below, body string, status int, want ...string) string {
			t.Helper()
			got := s.Send(credential, method, path+below, body)
			if got.Status != status {
				t.Fatalf("%s %s%s: %d %s", method, path, below, got.Status, got.Body)
			}
			testenv.Contains(t, method+" "+path+below, got.Body, want...)
			return got.Body
		}
		var added struct {
			Secret  string
			Webhook struct {
				ID           json.Number
				Acknowledged int64
			}
		}
		body := send("POST", "", `{"url":"https://hooks.example.com/a","description":"Λογιστήριο","types":["order.created"],"after":0}`, 201, `"acknowledged":0,`)
		if err := json.Unmarshal([]byte(body), &added); err != nil || !strings.HasPrefix(added.Secret, "whsec_") {
			t.Fatalf("%v: %s", err, body)
		}
		one := "/" + added.Webhook.ID.String()
		send("GET", "", "", 200, `"description":"Λογιστήριο"`, `"types":["order.created"]`)
		send("GET", one, "", 200, `"state":"active"`)
		send("PATCH", one, `{"enabled":false,"types":[],"description":"","url":"https://hooks.example.com/b"}`, 200,
			`"state":"disabled"`, `"types":[]`, `"description":""`, `"url":"https://hooks.example.com/b"`)
		send("PATCH", one, `{"enabled":true}`, 200, `"state":"active"`)
		shown := []string{`"headerNames":["Authorization","X-Api-Key"]`, `"username":"gate"`}
		body = send("PATCH", one, `{"headers":{"x-api-key":"secret-1","Authorization":"Bearer secret-2"},"username":"gate","password":"secret-3"}`, 200, shown...)
		body += send("PATCH", one, `{"url":"https://hooks.example.com/c"}`, 200, shown...) + send("GET", one, "", 200, shown...) + send("GET", "", "", 200, shown...)
		testenv.Lacks(t, "webhook shown again", body, "secret-")
		send("PATCH", one, `{"username":"","password":"","headers":{}}`, 200, `"headerNames":[]`, `"username":null`)
		for _, none := range []string{`"username":null,"password":null`, `"username":null`} {
			send("PATCH", one, `{"username":"gate","password":"secret-3","headers":{"X-A":"1"}}`, 200, `"headerNames":["X-A"]`, `"username":"gate"`)
			send("PATCH", one, `{"headers":null,`+none+`}`, 200, `"headerNames":[]`, `"username":null`)
		}
		send("PATCH", one, `{"username":"gate","password":"secret-3","headers":{"X-A":"1"}}`, 200, `"headerNames":["X-A"]`)
		send("PATCH", one, `{"url":"https://elsewhere.example.com/c"}`, 200, `"headerNames":[]`, `"username":null`)
		send("POST", "", `{}`, 400, "url is required")
		for bad, message := range map[string]string{
			`{"headers":{"Host":"a"}}`: "headers must have names", `{"headers":{"X-A":""}}`: "headers must be", `{"headers":{"X-A":1}}`: "headers must be",
			`{"headers":{"X-A":"1","x-a":"2"}}`: "headers must have each name once", `{"headers":[]}`: "headers must be an object",
			`{"username":"a"}`: "must be given together", `{"password":null}`: "must be given together", `{"username":"a:b","password":"c"}`: "username must not", `{"username":"a","password":""}`: "password must be",
			`{"headers":{"X-A":"1","X-B":"1","X-C":"1","X-D":"1","X-E":"1","X-F":"1","X-G":"1","X-H":"1","X-I":"1","X-J":"1","X-K":"1"}}`: "at most 10",
		} {
			send("PATCH", one, bad, 400, message)
		}
		if hooks := s.NewToken(apitest.MerchantID, order.ScopeWebhooks); path == "/v2/webhooks" {
			// The receiver sees what the feed shows, so who may not read the feed chooses no
			// receiver and nothing that it sees.
			s.Send(hooks, "POST", path, `{"url":"https://hooks.example.com/a","after":0}`).WantText(t, 403, "needs the scope orders:read")
			for _, change := range []string{`{"include":"order"}`, `{"url":"https://elsewhere.example.com/"}`, `{"types":["order.created"]}`} {
				s.Send(hooks, "PATCH", path+one, change).WantText(t, 403, "needs the scope orders:read")
			}
			s.Send(hooks, "POST", path+one+"/replay", `{"after":0}`).WantText(t, 403, "needs the scope orders:read")
			s.Send(hooks, "PATCH", path+one, `{"description":"","enabled":false}`).WantStatus(t, 200)
			s.Send(hooks, "PATCH", path+one, `{"enabled":true}`).WantText(t, 403, "needs the scope orders:read")
			send("PATCH", one, `{"enabled":true}`, 200)
		}
		send("PATCH", one, `{"include":"order"}`, 200, `"include":"order"`)
		send("PATCH", one, `{"include":null}`, 200, `"include":null`)
		send("PATCH", one, `{"batch":100}`, 200, `"batch":100`)
		send("PATCH", one, `{"batch":1}`, 200, `"batch":1,`)
		for _, wrong := range []string{"0", "101", "null", `"2"`, "1.5"} {
			send("PATCH", one, `{"batch":`+wrong+`}`, 400, "batch must be")
		}
		rotated := send("POST", one+"/secret", `{"overlap":"1h"}`, 200, `"secret":"whsec_`, `"oldSecretUntil":"2026-11-20T11:00:00Z"`)
		testenv.Lacks(t, "rotated webhook", rotated, added.Secret)
		send("POST", one+"/secret", `{"overlap":"1d"}`, 200, `"oldSecretUntil":"2026-11-21T10:00:00Z"`)
		send("POST", one+"/secret", "", 200, `"oldSecretUntil":"2026-11-21T10:00:00Z"`)
		send("POST", one+"/secret", `{"overlap":"0s"}`, 200, `"oldSecretUntil":null`)
		send("POST", one+"/test", "", 200, `"acknowledged":true`, `"event":null,"type":"webhook.test"`)
		send("POST", one+"/redeliver", `{"event":1}`, 200, `"event":1,"type":"order.created"`)
		send("POST", one+"/redeliver", `{"event":900}`, 404, "no event with that number")
		send("POST", one+"/replay", `{"after":1}`, 200, `"acknowledged":1,`)
		send("POST", one+"/replay", `{"after":900}`, 404, "no event with that number")
		send("GET", one+"/deliveries?limit=1", "", 200, `"deliveries":[{"id":2,`, `"next":2`)
		send("GET", one+"/deliveries?before=2", "", 200, `"deliveries":[{"id":1,`, `"next":null`)
		send("DELETE", one, "", 200, `{"success":true}`)
		for _, request := range [][2]string{
			{"GET", ""}, {"PATCH", `{}`}, {"DELETE", ""}, {"POST /secret", ""}, {"POST /test", ""},
			{"POST /redeliver", `{"event":1}`}, {"POST /replay", `{"after":0}`}, {"GET /deliveries", ""},
		} {
			method, below, _ := strings.Cut(request[0], " ")
			send(method, one+below, request[1], 404, "The webhook was not found.")
		}
		for range 20 {
			send("POST", "", `{"url":"https://hooks.example.com/a"}`, 201)
		}
		send("POST", "", `{"url":"https://hooks.example.com/a"}`, 409, "too_many_webhooks")
		list := s.Send(s.operator, "GET", "/operator/webhooks?limit=3", "")
		if list.Status != http.StatusOK || strings.Count(list.Body, `"url"`) != 3 || strings.Contains(list.Body, `"next":null`) {
			t.Errorf("all webhooks: %d %s", list.Status, list.Body)
		}
		s = start(t)
	}
}

// TestWebhookFailure checks the event of a webhook that the service disables, in the
// feed, in a delivery, and beside the orders.
// Proves decision 5 (webhooks: pauses, end).
func TestWebhookFailure(t *testing.T) {
	t.Parallel()
	s := start(t)
	hooks := s.NewToken(apitest.MerchantID, order.ScopeWebhooks|order.ScopeOrdersRead)
	newest := func() (feed struct{ Newest int64 }) {
		t.Helper()
		s.Send(s.merchant, "GET", "/v2/events?after=latest", "").Decode(t, &feed)
		return feed
	}
	before := newest().Newest
	s.Send(hooks, "POST", "/v2/webhooks", `{"url":"https://hooks.example.com/a"}`)
	s.failWebhook(delivery.Failed, order.WebhookFailed, "gone")
	testenv.Equal(t, fmt.Sprintf("newest event after %d", before), before+1, newest().Newest)
	want := fmt.Sprintf(`{"events":[{"seq":%d,"type":"webhook.failed","orderReference":"","orderId":0,"at":"2026-11-20T10:00:00Z","actor":"system",`+
		`"tokenId":null,"requestId":null,"data":{"webhookId":1,"reason":"gone"}}]`, before+1)
	if got := s.Send(s.merchant, "GET", fmt.Sprintf("/v2/events?after=%d", before), ""); !strings.HasPrefix(got.Body, want) {
		t.Errorf("feed: %s", got.Body)
	}
	s.Send(hooks, "POST", "/v2/webhooks/1/redeliver", fmt.Sprintf(`{"event":%d}`, before+1)).WantText(t, http.StatusOK, `"type":"webhook.failed"`)
	s.Send(s.merchant, "GET", "/v2/orders?itemsPerPage=1", "").WantStatus(t, http.StatusOK)
}

// failWebhook brings the first webhook of the merchant to a state, with an event.
func (s *service) failWebhook(to delivery.State, kind order.EventType, reason order.Reason) {
	s.T.Helper()
	at, key := apptest.StartOfTime, delivery.Key{MerchantID: apitest.MerchantID, ID: 1}
	lease, err := s.DB.BorrowEndpoint(s.T.Context(), key, at, at.Add(time.Minute))
	testenv.NoError(s.T, err)
	err = s.DB.SaveProgress(s.T.Context(), lease, delivery.Progress{Cursor: delivery.Cursor{State: to}, Failure: &delivery.Failure{
		Event: order.Event{Type: kind, By: order.System(), At: at, Reason: reason, WebhookID: key.ID},
		Audit: order.AuditEntry{MerchantID: key.MerchantID, At: at, Action: order.AuditAction(kind.String()), By: order.System(), SubjectID: key.ID},
	}})
	testenv.NoError(s.T, err)
}

// bodies is a Poster that keeps the body of each message.
type bodies struct{ posted [][]byte }

// Post implements webhook.Poster.
func (b *bodies) Post(_ context.Context, m webhook.Message) delivery.Result {
	b.posted = append(b.posted, m.Body)
	return delivery.Result{Status: http.StatusNoContent}
}

// TestDeliveryExamples delivers an event of each type, a test, and an event with its order,
// to the merchant and some of them to the marketplace, and compares them with the examples
// in the OpenAPI documents.
func TestDeliveryExamples(t *testing.T) {
	t.Parallel()
	receiver := new(bodies)
	s := startExamples(t, apptest.Setup{Poster: receiver})
	ctx, hook, none := t.Context(), delivery.Key{MerchantID: apitest.MerchantID, ID: 1}, order.Options[order.WriteResult]{}
	caller := order.Caller{Actor: order.ActorMerchant, MerchantID: apitest.MerchantID, TokenID: 3, RequestID: "3re9kh5bofoj86b1ty1y8yn9f"}
	expiring, prepared := order.ByReference("SF-2026-000123"), order.ByReference("SF-2026-000124")
	tracking := order.Correction{Carrier: order.CarrierCorrection{TrackingCodes: order.To("AC123456789GR")}}
	testenv.Of(s.Orders.ChangeOrder(ctx, order.Command(), apitest.MerchantID, prepared, order.Update{Correction: tracking}, none)).Must(t)
	testenv.Of(s.Orders.DeleteInvoice(ctx, caller, prepared, 1, none)).Must(t)
	testenv.Of(s.Orders.WarnOfDeadlines(ctx, 48*time.Hour)).Must(t)
	testenv.Of(s.Orders.Reject(ctx, caller, expiring, "damaged", none)).Must(t)
	testenv.Of(s.Retention.DeleteOldOrders(ctx, apptest.StartOfTime.Add(-100*time.Minute))).Must(t)
	s.failWebhook(delivery.Failing, order.WebhookFailing, "deliveries have failed for 36 hours, and the webhook is disabled after 3 days; the last error was the status 503")
	s.failWebhook(delivery.Failed, order.WebhookFailed, "the endpoint answered 410 Gone")

	feed := testenv.Of(s.Orders.Events(ctx, apitest.MerchantID, order.FeedQuery{Limit: order.MaxFeedLimit})).Must(t)
	const withOrder = "order.created, with the order"
	last := func(_ delivery.Attempt, err error) []byte {
		t.Helper()
		testenv.NoError(t, err)
		return receiver.posted[len(receiver.posted)-1]
	}
	deliver := func(to delivery.Key, e order.EventRecord) []byte {
		t.Helper()
		return last(s.Webhooks.Redeliver(ctx, order.Command(), to, e.MerchantID, e.Seq, order.Options[delivery.Attempt]{}))
	}
	test := func(to delivery.Key) []byte {
		t.Helper()
		return last(s.Webhooks.Test(ctx, order.Command(), to, order.Options[delivery.Attempt]{}))
	}
	market := testenv.Of(s.Webhooks.Add(ctx, order.Command(), delivery.Marketplace, webhook.Change{URL: new("https://hooks.example.com/market")}, nil, order.Options[webhook.Endpoint]{})).Must(t)
	delivered, toMarket := map[string][]byte{"webhook.test": test(hook)}, map[string][]byte{"webhook.test": test(market.Key)}
	for _, e := range feed.Events {
		if name := e.Type.String(); delivered[name] == nil {
			delivered[name] = deliver(hook, e)
		}
	}
	toMarket["order.created"] = deliver(market.Key, feed.Events[0])
	for _, key := range []delivery.Key{hook, market.Key} {
		testenv.Of(s.Webhooks.Change(ctx, order.Command(), key, webhook.Change{Orders: new(true)}, order.Options[webhook.Endpoint]{})).Must(t)
	}
	delivered[withOrder], toMarket[withOrder] = deliver(hook, feed.Events[1]), deliver(market.Key, feed.Events[1])

	for _, name := range slices.Concat(webhook.TypeNames, []string{"webhook.test", withOrder}) {
		if delivered[name] == nil {
			t.Errorf("%s: not delivered", name)
		}
	}
	for document, bodies := range map[string]map[string][]byte{"v2": delivered, "operator": toMarket} {
		examples := openapitest.Published().DeliveryExamples(document)
		for name, body := range bodies {
			testenv.Equal(t, fmt.Sprintf("%s, %s", document, name), comparable(t, examples[name]), comparable(t, json.RawMessage(body)))
			text := testenv.Of(json.Marshal(examples[name])).Must(t)
			testenv.Equal(t, fmt.Sprintf("%s, %s", document, name), nil, openapitest.Published().DeliveryViolation(document, text))
			delete(examples, name)
		}
		for name := range examples {
			t.Errorf("%s, %s: an example of no delivery", document, name)
		}
	}
}

// arrivals is a Poster that says when a message arrives.
type arrivals chan struct{}

// Post implements webhook.Poster.
func (a arrivals) Post(context.Context, webhook.Message) delivery.Result {
	a <- struct{}{}
	return delivery.Result{Status: http.StatusNoContent}
}

// TestBulkWakesWebhooks changes orders in bulk, one after the delivery of the other: the
// deliveries come at once, like those of single changes. If they came with the polls of
// the sender, they would come a second apart.
// Proves decision 5 (webhooks: deliveries).
func TestBulkWakesWebhooks(t *testing.T) {
	t.Parallel()
	arrived := make(arrivals, 100)
	s := startWith(t, apptest.Setup{Poster: arrived})
	var running sync.WaitGroup
	running.Go(func() { s.Worker.Run(t.Context()) })
	t.Cleanup(running.Wait)
	s.Send(s.operator, "POST", "/operator/merchants/355/webhooks", `{"url":"https://hooks.example.com/a"}`).WantStatus(t, http.StatusCreated)
	for name, change := range map[string]func(i int){
		"single": func(i int) {
			path := fmt.Sprintf("/operator/merchants/355/orders/R-%d/state", i)
			s.Send(s.operator, "POST", path, `{"state":"in-processing"}`).WantStatus(t, http.StatusOK)
		},
		"bulk": func(i int) {
			line := fmt.Sprintf(`{"merchantId":355,"reference":"R-%d","state":"canceled"}`, 4+i)
			s.Send(s.operator, "POST", "/operator/orders/transitions", line).WantStatus(t, http.StatusOK)
		},
		"import": func(i int) {
			s.MustImport(apitest.Incoming(registered(apitest.MerchantID, 300+int64(i), fmt.Sprintf("W-%d", i))))
		},
	} {
		fastest := time.Hour // the machine may be busy
		for i := range 4 {
			begun := time.Now()
			change(i + 1)
			<-arrived
			fastest = min(fastest, time.Since(begun))
		}
		if fastest > 600*time.Millisecond {
			t.Errorf("%s: no delivery came sooner than after %v", name, fastest)
		}
	}
}

// TestWebhookKeys checks that a repeated request with a key adds one webhook and that
// the record does not have its secret.
// Proves decision 5 (webhooks: requests).
func TestWebhookKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	for path, credential := range webhooksOf(s) {
		for i, want := range []string{`{"secret":"whsec_`, `{"secret":null,`} {
			got := s.Send(credential, "POST", path, `{"url":"https://hooks.example.com/a"}`, "Idempotency-Key", "k")
			if got.Status != http.StatusCreated || !strings.HasPrefix(got.Body, want) {
				t.Errorf("request %d: %d %s", i, got.Status, got.Body)
			}
		}
		for _, below := range []string{"/1/test", "/1/redeliver"} {
			var ids [2]string
			for i := range ids {
				got := s.Send(credential, "POST", path+below, `{"event":1}`, "Idempotency-Key", below)
				ids[i] = got.Body
			}
			if ids[0] != ids[1] || !strings.Contains(ids[0], `"acknowledged":true`) {
				t.Errorf("%s twice: %s", below, ids)
			}
		}
		if got := s.Send(credential, "GET", path+"/1/deliveries", ""); strings.Count(got.Body, `"messageId"`)%2 != 0 || got.Status != 200 {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
}

// TestMarketplaceWebhook goes through the life of a webhook with the events of all
// merchants.
// Proves decision 9 (feed of all merchants).
func TestMarketplaceWebhook(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/operator/merchants/all/webhooks"
	send := func(method, below, body string, status int, want ...string) {
		t.Helper()
		s.Send(s.operator, method, path+below, body).WantText(t, status, want...)
	}
	send("GET", "", "", 200, `{"webhooks":[]}`)
	send("POST", "", `{"url":"https://market.example.com","after":0}`, 400, "after is not a known key")
	send("POST", "", `{"url":"https://market.example.com","cursor":"AA"}`, 400, `cursor must be \"next\" of the feed of all merchants, or empty for its beginning`)
	s.Send(s.operator, "POST", "/operator/merchants/355/webhooks", `{"url":"https://market.example.com","cursor":""}`).WantText(t, 400, "cursor is not a known key")
	s.Send(s.operator, "GET", "/operator/merchants/ALL/webhooks", "").WantText(t, 404, "The merchant was not found.")
	var all struct{ Next string }
	s.Send(s.operator, "GET", "/operator/events?cursor=latest", "").Decode(t, &all)
	newest := `"cursor":"` + all.Next + `"`
	send("POST", "", `{"url":"https://market.example.com","include":"order"}`, 201, `"id":1,"merchantId":null`, newest, `"held":[]`)
	testenv.NoError(t, s.DB.InWebhookTx(t.Context(), func(tx webhook.Tx) error {
		e, err := tx.Lock(t.Context(), delivery.Key{ID: 1})
		e.Held = []delivery.Held{{MerchantID: 355, Event: 2, Backoff: delivery.Backoff{Failures: 3, FailingSince: e.CreatedAt, NextAttempt: e.CreatedAt}}}
		return errors.Join(err, tx.Update(t.Context(), e))
	}))
	send("GET", "/1", "", 200, newest, `"held":[{"merchantId":355,"event":2,"failures":3,"failingSince":"2`)
	send("PATCH", "/1", `{"enabled":true}`, 200, newest, `"held":[{"merchantId":355,"event":2,"failures":0,"failingSince":null,"nextAttemptAt":"2`)
	send("GET", "", "", 200, `"id":1,"merchantId":null`)
	send("POST", "/1/replay", `{"cursor":""}`, 200, `"acknowledged":0,"cursor":"`)
	send("POST", "/1/replay", `{"cursor":"`+all.Next+`"}`, 200, newest, `"held":[]`)
	send("POST", "/1/replay", `{"cursor":"`+web.EncodeCursor("", 1, 2, 3, 4, 5)+`"}`, 409, "history_changed")
	send("POST", "/1/redeliver", `{"event":1}`, 400, "merchantId must be")
	send("POST", "/1/redeliver", `{"event":1,"merchantId":355}`, 200, `"event":1,"merchantId":355,"type":"order.created"`)
	send("GET", "/1/deliveries", "", 200, `"event":1,"merchantId":355,`)
	s.Send(s.operator, "GET", "/operator/webhooks", "").WantText(t, 200, `"id":1,"merchantId":null`)
	s.Send(s.NewToken(apitest.MerchantID, order.ScopeWebhooks), "GET", "/v2/webhooks/1", "").WantStatus(t, 404)
	send("DELETE", "/1", "", 200, `"success":true`)
}

// clusterStore is a store whose tables are distributed over a cluster.
type clusterStore struct{ app.Store }

func (clusterStore) MarketEvents(context.Context, order.MarketCursor, int) (order.MarketFeed, error) {
	return order.MarketFeed{}, order.ErrOnCluster
}

func (clusterStore) MarketEnd(context.Context) (order.MarketFeed, error) {
	return order.MarketFeed{}, order.ErrOnCluster
}

// TestOnCluster follows all merchants where their events have no common order: the feed and
// webhooks with it are refused, and an export has no position.
func TestOnCluster(t *testing.T) {
	t.Parallel()
	s := startWith(t, apptest.Setup{Store: func(store app.Store) app.Store { return clusterStore{store} }})
	refusal := coded("not_on_cluster", "A cluster has no common order of the events of all merchants. Follow the events of each merchant.")
	for _, query := range []string{"", "?cursor=latest", "?wait=30&types=order.created"} {
		s.asOperator("GET", "/events"+query, "", 409, refusal)
	}
	for _, body := range []string{`{"url":"https://market.example.com"}`, `{"url":"https://market.example.com","cursor":""}`} {
		s.asOperator("POST", "/merchants/all/webhooks", body, 409, refusal)
	}
	_, summary, _ := s.export(s.operator, "/operator/orders/export")
	testenv.Equal(t, "summary", `{"summary":{"orders":12},"complete":true}`, summary)
}

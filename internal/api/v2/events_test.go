package v2

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
	"merchantorders/openapi/openapitest"
)

func parseFeed(query string, waits bool) (order.FeedQuery, error) {
	r := httptest.NewRequest("GET", "/v2/events", nil)
	r.URL.RawQuery = query
	return parseFeedQuery(&web.Request{Request: r}, waits)
}

func TestParseFeedQuery(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]order.FeedQuery{
		"":                          {Limit: 100},
		"after=0":                   {Limit: 100},
		"after=17":                  {After: 17, Limit: 100},
		"after=9223372036854775807": {After: 9223372036854775807, Limit: 100},
		"limit=1":                   {Limit: 1},
		"limit=1000":                {Limit: 1000},
		"wait=0":                    {Limit: 100},
		"wait=30":                   {Limit: 100, Wait: 30 * time.Second},
		"after=5&limit=7&wait=9":    {After: 5, Limit: 7, Wait: 9 * time.Second},
		"after=&limit=&wait=":       {Limit: 100},
		"before=x&page=0&x=1&x=2":   {Limit: 100},
		"after=latest":              {Latest: true, Limit: 100},
		"include=order":             {Limit: 100, Orders: true},
		"include=":                  {Limit: 100},
		"types=":                    {Limit: 100},
		"after=latest&limit=7":      {Latest: true, Limit: 7},
	} {
		got, err := parseFeed(query, true)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", query, err, diff)
		}
		if want.Wait, want.Orders = 0, false; want.Latest {
			continue // TestParseFeedQueryRefusals
		}
		testenv.Of(parseFeed(query, false)).Want(t, query+" of an order", want)
	}
}

const typesProblem = "types must be one or several of order.created, order.state_changed, order.updated, invoice.uploaded, invoice.deleted, " +
	"order.deleted, webhook.failed, order.deadline_near, webhook.failing, separated by commas"

// badFeedQueries are queries that are refused, with the message.
var badFeedQueries = map[string]string{
	"after=-1":                    "after must be a whole number from 0",
	"after=x":                     "after must be a whole number from 0",
	"after=007":                   "after must be a whole number from 0",
	"after=%2B1":                  "after must be a whole number from 0",
	"after=9223372036854775808":   "after must be a whole number from 0",
	"after=Latest":                "after must be a whole number from 0",
	"after=latest&limit=0":        "limit must be a whole number from 1 to 1000",
	"after=latest&after=latest":   "after is given twice",
	"after=1&after=1":             "after is given twice",
	"limit=0":                     "limit must be a whole number from 1 to 1000",
	"limit=1001":                  "limit must be a whole number from 1 to 1000",
	"limit=1&limit=2":             "limit is given twice",
	"wait=31":                     "wait must be a whole number from 0 to 30",
	"wait=5s":                     "wait must be a whole number from 0 to 30",
	"wait=1&wait=1":               "wait is given twice",
	"after=1;limit=2":             "query is malformed; write % as %25 and ; as %3B",
	"include=orders":              "include must be order",
	"include=order&include=order": "include is given twice",
	"types=order.created,":        typesProblem,
	"types=Order.created":         typesProblem,
	"types=webhook.test":          typesProblem,
	"types=order.created&types=":  "types is given twice",
}

// Proves decision 5 (events: content, limits).
func TestParseFeedQueryRefusals(t *testing.T) {
	t.Parallel()
	for query, want := range badFeedQueries {
		_, err := parseFeed(query, true)
		var param *strict.ParamError
		if !errors.As(err, &param) || err.Error() != want {
			t.Errorf("%s: error %v, want %s", query, err, want)
		}
	}
	if _, err := parseFeed("after=latest", false); err == nil || err.Error() != "after must be a whole number from 0" {
		t.Errorf("latest of an order: error %v", err)
	}
}

func FuzzFeedQuery(f *testing.F) {
	for query := range badFeedQueries {
		f.Add(query)
	}
	f.Add("after=5&limit=7&wait=9")
	f.Fuzz(func(t *testing.T, text string) {
		query, err := parseFeed(text, true)
		var param *strict.ParamError
		switch {
		case err != nil && !errors.As(err, &param):
			t.Errorf("error %v is no *strict.ParamError", err)
		case err != nil:
		case query.After < 0 || query.Limit < 1 || query.Limit > order.MaxFeedLimit || query.Wait < 0 || query.Wait > order.MaxFeedWait:
			t.Errorf("%+v", query)
		}
	})
}

func TestEventsView(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 11, 15, 0, 0, time.FixedZone("EET", 2*60*60))
	near := order.EventRecord{LegacyID: 915664, Reference: "SF-1", Event: order.Event{
		Seq: 8, Type: order.DeadlineNear, By: order.Caller{Actor: order.ActorSystem}, At: at, ExpiresAt: at.Add(time.Hour),
	}}
	shown := eventView{8, "order.deadline_near", "SF-1", 915664, "2026-11-20T09:15:00Z", "system", nil, nil, deadlineNearView{"2026-11-20 10:15:00"}, nil, ""}
	testenv.Equal(t, "view", eventsView{[]eventView{shown}, 8}, newEventsView([]order.EventRecord{near}, 8))
}

// TestDeliveriesAreDescribed compares the bodies of webhooks with the document.
func TestDeliveriesAreDescribed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	bodies := make(map[string][]byte)
	encoder := &EventEncoder{StorageURL: apitest.StorageURL}
	for n := range order.EventNames {
		kind := order.EventType(n + 1)
		event := order.EventRecord{Reference: "SF-1", LegacyID: 7, FileName: "a.pdf", Event: order.Event{
			Seq: 1, Type: kind, By: order.Caller{Actor: order.ActorSystem}, At: at,
			From: order.Registered, To: order.InProcessing, InvoiceID: 5, WebhookID: 1, Reason: "damaged", ExpiresAt: at,
		}}
		for name, orders := range map[string]bool{kind.String(): false, kind.String() + ", deleted": true} {
			body := testenv.Of(encoder.Event(event, orders)).Must(t)
			bodies[name] = body
		}
	}
	body, name, err := encoder.Test(at)
	testenv.NoError(t, err)
	bodies[name] = body
	for name, body := range bodies {
		testenv.Equal(t, fmt.Sprintf("%s: %s", name, body), nil, openapitest.Published().DeliveryViolation("v2", body))
	}
}

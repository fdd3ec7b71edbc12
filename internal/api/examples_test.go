package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/app"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
	"merchantorders/openapi/openapitest"
)

// exampleOrders are the orders in the examples of the OpenAPI documents: one with
// every field, one that is accepted and has a file, one with the maximum of files.
var exampleOrders = []string{
	`{"merchantId":355,"reference":"SF-2026-000123","orderId":915664,"createdAt":"2026-11-20T08:15:30Z","expiresAt":"2026-11-22T08:15:30Z","total":3180,
	"customer":{"userId":222039,"email":"buyer@example.com","phone":"2100000000","firstName":"Maria","lastName":"Pappa"},
	"shippingAddress":{"firstName":"Maria","lastName":"Pappa","street":"Ermou","streetNumber":"12","city":"Nea Ionia","region":"Attica",
		"regionCode":"ATT","country":"Greece","countryCode":"GR","postCode":"14234","phone":"2100000000"},
	"carrier":{"shipmentIds":[925746],"name":"ACS","method":"Courier","deliveryName":"To the door","deliveryKey":"courier"},"payment":{"name":"cod"},
	"invoiceDetails":{"doy":"1131","doyName":"Nea Ionia","vatNumber":"000000000","company":"Pappa Ltd","occupation":"Retail","address":"Ermou 12",
		"postCode":"14234","city":"Nea Ionia","article39Eligible":false},
	"lineItems":[{"id":1688147140,"productId":"20000906","productCode":"5904622494337","sku":"SF-12540217","merchantSku":"3MK-CF","merchantEan":"5904622494337",
		"productName":"Carbon cover","productStatus":"A","masterProductCode":"SF-12540217","productUrl":"https://shop.example/p/1","ean":"5904622494337",
		"unitPrice":1390,"quantity":2,"article39Status":"0","pickupDate":"2026-11-21","deliveryDate":"2026-11-24"}]}`,
	`{"merchantId":355,"reference":"SF-2026-000124","orderId":915665,"state":"in-processing","createdAt":"2026-11-20T08:30:00Z",
	"updatedAt":"2026-11-20T08:45:00Z","total":1390,"customer":{"email":"buyer@example.com","firstName":"Maria","lastName":"Pappa"},
	"shippingAddress":{"street":"Ermou","streetNumber":"12","city":"Athens","countryCode":"GR"},
	"lineItems":[{"id":1,"productName":"Cable, 2 m","unitPrice":1390,"quantity":1}]}`,
	`{"merchantId":355,"reference":"SF-2026-000125","orderId":915666,"createdAt":"2026-11-20T09:00:00Z","total":990,
	"customer":{"email":"buyer@example.com","firstName":"Maria","lastName":"Pappa"},
	"shippingAddress":{"street":"Ermou","streetNumber":"12","city":"Athens","countryCode":"GR"},
	"lineItems":[{"id":1,"productName":"Adapter","unitPrice":990,"quantity":1}]}`,
}

// fillExamples adds the data that the examples need.
func fillExamples(s *service) {
	s.T.Helper()
	ctx := s.T.Context()
	testenv.NoError(s.T, s.Merchants.Add(ctx, order.Command(), 355, "Our Store", order.Options[order.Merchant]{}))
	testenv.NoError(s.T, s.Merchants.Add(ctx, order.Command(), 400, "Another Store", order.Options[order.Merchant]{}))
	s.merchant = s.NewToken(355, order.MerchantScopes)
	s.operator = s.NewOperatorToken(order.OperatorScopes)
	for _, text := range exampleOrders {
		incoming := testenv.Of(ingest.Parse([]byte(text))).Must(s.T)
		testenv.Of(s.Orders.Import(ctx, order.Command(), []order.Incoming{incoming})).Must(s.T)
	}
	for _, file := range []struct{ reference, name string }{
		{"SF-2026-000124", "invoice.pdf"}, {"SF-2026-000125", "a.pdf"}, {"SF-2026-000125", "b.pdf"}, {"SF-2026-000125", "c.pdf"},
	} {
		testenv.NoError(s.T, upload(ctx, s.Orders, file.reference, file.name))
	}
	fillWebhooks(s)
}

// fillWebhooks adds two webhooks, one of them disabled, and a delivery to each.
func fillWebhooks(s *service) {
	ctx, hooks := s.T.Context(), s.Webhooks
	change := webhook.Change{URL: new("https://hooks.example.com/orders"), Description: new("Order system")}
	added := testenv.Of(hooks.Add(ctx, order.CommandFor(355), 355, change, nil, order.Options[webhook.Endpoint]{})).Must(s.T)
	testenv.Of(hooks.Test(ctx, order.CommandFor(355), added.Key, order.Options[delivery.Attempt]{})).Must(s.T)
	change = webhook.Change{URL: new("https://erp.example.com/in?shop=355"), Types: new(delivery.NewTypes(order.OrderCreated, order.OrderStateChanged))}
	second := testenv.Of(hooks.Add(ctx, order.CommandFor(355), 355, change, nil, order.Options[webhook.Endpoint]{})).Must(s.T)
	testenv.Of(hooks.Redeliver(ctx, order.CommandFor(355), second.Key, 355, 3, order.Options[delivery.Attempt]{})).Must(s.T)
	testenv.Of(hooks.Change(ctx, order.CommandFor(355), second.Key, webhook.Change{Enabled: new(false)}, order.Options[webhook.Endpoint]{})).Must(s.T)
}

func upload(ctx context.Context, orders *order.Service, reference, name string) error {
	const text = "%PDF-1.4"
	staged, err := orders.StageFile(ctx)
	if err != nil {
		return err
	}
	defer staged.Abort()
	if _, err := io.WriteString(staged, text); err != nil {
		return err
	}
	content := order.Content{Staged: staged, Size: int64(len(text)), SHA256: sha256.Sum256([]byte(text))}
	_, err = orders.Upload(ctx, order.CommandFor(355), order.ByReference(reference), name, content, order.Options[order.WriteResult]{})
	return err
}

// failingGrants is a database that fails for every token.
type failingGrants struct {
	app.Store
	err error
}

func (s failingGrants) Grant(context.Context, token.Hash) (token.Grant, error) {
	return token.Grant{}, s.err
}

// silent is a database that does not respond.
type silent struct{ app.Store }

func (silent) Ping(context.Context) error { return errors.New("out of reach") }

// faulty are services in which something is broken, by the name of the fault in the
// examples.
var faulty = map[string]apptest.Setup{
	"":            {},
	"broken":      {Store: func(s app.Store) app.Store { return failingGrants{s, errors.New("a fault")} }},
	"unavailable": {Store: func(s app.Store) app.Store { return failingGrants{s, order.ErrUnavailable} }},
	"files":       {Files: func(f order.Files) order.Files { return fullDisk{f} }},
	"unready":     {Store: func(s app.Store) app.Store { return silent{s} }},
}

// TestExamples sends every example of the OpenAPI documents to a service and
// compares the response with that in the document.
func TestExamples(t *testing.T) {
	t.Parallel()
	examples := testenv.Of(openapitest.Published().Examples()).Must(t)
	if len(examples) < 100 {
		t.Errorf("there are only %d examples", len(examples))
	}
	refusing := make(map[string]*service)
	for fault := range faulty {
		refusing[fault] = startExamples(t, faulty[fault])
	}
	for _, e := range examples {
		t.Run(e.String(), func(t *testing.T) {
			t.Parallel()
			if refusing[e.Fault] == nil {
				t.Fatalf("unknown fault %q", e.Fault)
			}
			// A refusal changes nothing. A success needs the initial data.
			s := refusing[e.Fault]
			if e.Status < 400 {
				s = startExamples(t, faulty[e.Fault])
			}
			var header []string
			for name := range e.Header {
				header = append(header, name, e.Header.Get(name))
			}
			got := testenv.Send(t, s.tokenFor(t, e), e.Method, s.URL+e.Path, string(e.Body), header...)
			got.WantStatus(t, e.Status)
			testenv.Equal(t, fmt.Sprintf("%s %s", e.Method, e.Path), comparable(t, e.Want), comparable(t, json.RawMessage(got.Body)))
		})
	}
}

// startExamples starts a service with the data of the examples.
func startExamples(t *testing.T, with apptest.Setup) *service {
	t.Helper()
	s := new(service)
	with.Settings.BaseURL, with.Flags.Sandbox = "https://orders.example.com", true
	with.Fill = func(filled *apptest.Service) {
		s.Service = filled
		fillExamples(s)
	}
	apptest.New(t, with)
	return s
}

// tokenFor returns the token of an example.
func (s *service) tokenFor(t *testing.T, e openapitest.Example) string {
	t.Helper()
	good, unscoped := s.merchant, order.ScopeWebhooks
	if e.Document == "operator" {
		good = s.operator
	}
	if strings.HasPrefix(e.Path, "/v2/webhooks") {
		unscoped = order.ScopeOrdersRead
	}
	switch {
	case e.As == "":
		return good
	case e.As == "nobody":
		return ""
	case e.As == "unscoped" && good == s.operator:
		return s.merchant
	case e.As == "unscoped":
		return s.NewToken(355, unscoped)
	}
	t.Fatalf("unknown token %q", e.As)
	return ""
}

// randomText matches a token or its beginning, a secret, the id of a message, the
// history or the cursor of a feed, or the signature of a link.
var randomText = regexp.MustCompile(`"(mop?_|whsec_|msg_1_1_|evt_355_[0-9]+_|(?:history|next)":"|[^"]*/files/[0-9.]+\.|[^"]*/console/login/)[0-9A-Za-z_+/=-]+"`)

// auditEntry matches the hash and the number of an entry of the audit log, which depend
// on every change before it.
var auditEntry = regexp.MustCompile(`"hash":"[0-9a-f]{64}"([^}]*?)"seq":[0-9]+`)

// comparable returns a JSON value with the random parts replaced.
func comparable(t *testing.T, value any) any {
	t.Helper()
	var plain any
	// Twice, so that the members of the body of a response are sorted.
	for range 2 {
		text := testenv.Of(json.Marshal(value)).Must(t)
		text = randomText.ReplaceAll(text, []byte(`"$1..."`))
		text = auditEntry.ReplaceAll(text, []byte(`"hash":"..."$1"seq":0`))
		plain = nil
		if err := json.Unmarshal(text, &plain); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", text, err))
		}
		value = plain
	}
	return plain
}

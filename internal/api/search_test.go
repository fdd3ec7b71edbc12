package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// search reads all pages of a search and returns the references.
func (s *service) search(query string) []string {
	s.T.Helper()
	references := []string{}
	for cursor := ""; ; {
		got := s.Send(s.operator, "GET", "/operator/orders?"+query+cursor, "")
		var page struct {
			Orders []struct{ OrderReference string }
			Next   *string
		}
		got.Decode(s.T, &page)
		for _, o := range page.Orders {
			references = append(references, o.OrderReference)
		}
		if page.Next == nil {
			return references
		}
		cursor = "&cursor=" + *page.Next
	}
}

// importShoppers imports orders of both merchants.
func (s *service) importShoppers() {
	s.T.Helper()
	for i, shopper := range [][4]string{
		{"Γιώργος", "Παπαδόπουλος", "g@example.com", "+30 210 1234567"}, {"Maria", "Pappa", "maria@example.com", "6900000001"},
		{"Müller", "Söhne", "m@example.de", "+49 30 1"}, {"Γιώργος", "Νικολάου", "gn@example.com", "2109999999"},
	} {
		document := fmt.Sprintf(`{"merchantId":%d,"reference":"Q-%d","createdAt":"2026-11-%02dT08:00:00Z","expiresAt":"2026-11-2%dT08:00:00Z","total":100,
			"customer":{"firstName":%q,"lastName":%q,"email":%q,"phone":%q},"shippingAddress":{"city":"Athens","countryCode":"GR"},
			"carrier":{"trackingCodes":"GR-70%d"},"lineItems":[{"id":1,"productName":"Tea","merchantSku":"TEA-1","unitPrice":100,"quantity":1}]}`,
			[]int{355, otherMerchant}[i%2], i, 10+i, i, shopper[0], shopper[1], shopper[2], shopper[3], i)
		s.Send(s.operator, "POST", "/operator/orders", document).WantStatus(s.T, http.StatusCreated)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.importShoppers()
	for query, want := range map[string][]string{
		"reference=q-":               {"Q-3", "Q-2", "Q-1", "Q-0"},
		"q=q-&limit=1":               {"Q-3", "Q-2", "Q-1", "Q-0"},
		"name=ΠΑΠΑΔΟΠΟΥΛΟΣ":          {"Q-0"},
		"name=pap":                   {"SF-2026-000123", "Q-1", "Q-0"}, // in Greek letters too
		"name=γιωργοσ":               {"Q-3", "Q-0"},
		"name=sohne+MULLER":          {"Q-2"},
		"email=G":                    {"Q-3", "Q-0"},
		"phone=0030210":              {"Q-3", "Q-0"},
		"q=%2B30+210+1":              {"Q-0"},
		"q=γιω+gn&state=registered":  {"Q-3"},
		"q=gr-702":                   {"Q-2"},
		"q=tea-+g":                   {"Q-3", "Q-0"},
		"reference=Q&merchantId=355": {"Q-2", "Q-0"},
		"reference=Q&state=canceled,in-processing":                   {},
		"reference=Q&dateFrom=2026-11-11&dateTo=2026-11-12T23:00:00": {"Q-2", "Q-1"},
		"expiresBefore=2026-11-22T08:00:00Z":                         {"Q-0", "Q-1"},
		"expiresBefore=2026-11-22T10:00:01+02:00&name=pappa":         {"Q-1", "Q-0"},
		"sort=expires&limit=3":                                       {"Q-0", "Q-1", "Q-2", "Q-3"},
		"name=%21":                                                   {},
	} {
		testenv.Equal(t, query, want, s.search(strings.ReplaceAll(query, "+02:00", "%2B02:00")))
	}
	s.Send(s.operator, "GET", "/operator/orders?q=tea-1&limit=2", "").WantText(t, http.StatusOK, `"total":4`)
	all := s.search("limit=3")
	if paged := s.search("limit=100"); !slices.Equal(all, paged) || len(all) < 4 {
		t.Errorf("%q in pages of 3, %q in pages of 100", all, paged)
	}
}

// TestSearchRefusals has what each parameter alone does not say; TestHostileRequests has those.
func TestSearchRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := s.Send(s.operator, "GET", "/operator/orders?limit=1", "")
	_, cursor, _ := strings.Cut(strings.TrimSuffix(first.Body, `","total":null}`), `"next":"`)
	for query, problem := range map[string]string{
		"dateFrom=2026-11-21&dateTo=2026-11-20": "dateFrom is after dateTo",
		"name=a&sort=updated":                   "sort must be created with reference, email, phone, name or q",
		"state=registered&cursor=" + cursor:     "cursor is not valid for this search; start again from the first page",
	} {
		s.asOperator("GET", "/orders?"+query, "", 400, coded("invalid_params", problem))
	}
	for _, reference := range []string{"none", "a%00"} {
		s.asOperator("GET", "/orders/"+reference, "", 404, coded("not_found", "The order was not found."))
	}
}

// TestInspect reads everything about an order with a deleted file and a delivery, and the overview
// page by page.
func TestInspect(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.importShoppers()
	s.Send(s.merchant, "POST", "/v2/orders/Q-0/invoices", apptest.UploadBody("a.pdf", []byte("content"))).WantStatus(t, http.StatusOK)
	s.Send(s.merchant, "DELETE", "/v2/orders/Q-0/invoices/1", "").WantStatus(t, http.StatusOK)
	var all struct {
		Merchant struct{ ID int64 }
		Order    json.RawMessage
		History  json.RawMessage
		Files    []struct{ Filename, UploadedAt, DeletedAt string }

		Deliveries json.RawMessage
	}
	got := s.Send(s.operator, "GET", "/operator/orders/Q-0", "")
	if err := json.Unmarshal([]byte(got.Body), &all); err != nil || all.Merchant.ID != 355 || len(all.Files) != 1 || all.Files[0].DeletedAt == "" {
		t.Errorf("%d %s: %v", got.Status, got.Body, err)
	}
	want := s.Send(s.merchant, "GET", "/v2/orders/Q-0", "").Body
	testenv.Equal(t, "the order, as its merchant sees it", want, `{"order":`+string(all.Order)+`}`)
	if want := s.Send(s.merchant, "GET", "/v2/orders/Q-0/events", "").Body; !strings.HasPrefix(want, `{"events":`+string(all.History)+`,`) {
		t.Errorf("history %s, as its merchant sees it %s", all.History, want)
	}
	var events []struct{ Seq int64 }
	if err := json.Unmarshal(all.History, &events); err != nil || string(all.Deliveries) != "[]" {
		t.Errorf("deliveries %s, %v", all.Deliveries, err)
	}
	s.Send(s.operator, "POST", "/operator/merchants/355/webhooks", `{"url":"https://hooks.example.com/"}`).WantStatus(t, http.StatusCreated)
	delivered := s.Send(s.operator, "POST", "/operator/merchants/355/webhooks/1/redeliver", fmt.Sprintf(`{"event":%d}`, events[0].Seq))
	if delivered.Status != http.StatusOK {
		t.Fatalf("%d %s", delivered.Status, delivered.Body)
	}
	want = fmt.Sprintf(`"deliveries":[{"webhookId":1,"id":1,"at":"2026-11-20T10:00:00Z","event":%d,"type":"order.created","status":204,"error":null,"tookMs":0}]}`, events[0].Seq)
	if got := s.Send(s.operator, "GET", "/operator/orders/Q-0", ""); !strings.HasSuffix(got.Body, want) {
		t.Errorf("%s does not end with %s", got.Body, want)
	}
	merchants := []int64{}
	for cursor := ""; ; {
		var page struct {
			States    map[string]int64
			Merchants []struct{ ID, Unanswered int64 }
			Next      *string
		}
		got := s.Send(s.operator, "GET", "/operator/overview?limit=1"+cursor, "")
		if err := json.Unmarshal([]byte(got.Body), &page); err != nil || page.States["registered"] < 4 || len(page.States) != len(order.States()) {
			t.Fatalf("%d %s: %v", got.Status, got.Body, err)
		}
		for _, m := range page.Merchants {
			merchants = append(merchants, m.ID)
		}
		if page.Next == nil {
			break
		}
		cursor = "&cursor=" + *page.Next
	}
	if !slices.Contains(merchants, 355) || !slices.Contains(merchants, otherMerchant) || len(merchants) != 2 {
		t.Errorf("merchants %v", merchants)
	}
}

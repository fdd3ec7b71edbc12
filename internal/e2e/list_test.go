package e2e

import (
	"strings"
	"testing"
	"time"
)

// TestList compares whole lists (spec 2.2, 2.4 and decision 3): params, the
// fields of each order, and no field more; also of a merchant without orders.
// Proves decision 3 (totals), decision 4 (every field), decision 9 (currency), spec 2.2, spec 2.4.
func TestList(t *testing.T) {
	alone(t, bothDatabases, func(t *testing.T, s *service) {
		s = s.adding(t, 355, "Store 355")
		wantToday(t, s, get("/api/orders"), `{"params": {"page": 1, "items_per_page": 10, "total_items": 0, "status": null,
			"date_from": "1970-01-01 00:00:00", "date_to": "<today> 23:59:59"}, "orders": []}`)
		wantToday(t, s, get("/v2/orders"), `{"params": {"page": 1, "itemsPerPage": 10, "totalItems": 0, "status": null,
			"dateFrom": "1970-01-01 00:00:00", "dateTo": "<today> 23:59:59"}, "orders": []}`)
		for _, document := range []string{richDocument, minimalDocument} {
			s.Import(t, []byte(strings.ReplaceAll(document, "\n", "")))
		}
		wantToday(t, s, get("/api/orders"), `{
			"params": {"page": 1, "items_per_page": 10, "total_items": 2, "status": null,
				"date_from": "1970-01-01 00:00:00", "date_to": "<today> 23:59:59"},
			"orders": [
				{"order_id": 7, "order_reference": "m", "timestamp": 1777636800, "firstname": "", "lastname": "",
					"company_id": "355", "company": "", "email": "", "phone": "", "status": "O", "total": "0.05"},
				{"order_id": 42, "order_reference": "Rich.1_a-B", "timestamp": 1772409599, "firstname": "Μαρία", "lastname": "Παππά",
					"company_id": "355", "company": "Παππά ΑΕ", "email": "maria@example.com", "phone": "6900000001", "status": "H", "total": "35.25"}]}`)
		wantToday(t, s, get("/v2/orders"), `{
			"params": {"page": 1, "itemsPerPage": 10, "totalItems": 2, "status": null,
				"dateFrom": "1970-01-01 00:00:00", "dateTo": "<today> 23:59:59"},
			"orders": [
				{"id": "m", "state": "registered", "countryCode": "", "hasInvoice": false, "totalItemsAmount": 5, "currency": "EUR",
					"createdAt": "2026-05-01 12:00:00", "updatedAt": null,
					"customer": {"userId": 0, "email": "", "phone": null, "firstName": "", "lastName": ""}},
				{"id": "Rich.1_a-B", "state": "ready-for-shipment", "countryCode": "CY", "hasInvoice": true, "totalItemsAmount": 3525, "currency": "EUR",
					"createdAt": "2026-03-01 23:59:59", "updatedAt": "2026-03-02 01:02:03",
					"customer": {"userId": 7, "email": "maria@example.com", "phone": "6900000001", "firstName": "Μαρία", "lastName": "Παππά"}}]}`)
	})
}

// wantToday compares a response in whose expected body <today> is the
// current day of UTC. Where midnight falls between, it asks again.
func wantToday(t *testing.T, s *service, r request, want string) {
	t.Helper()
	for {
		before := today()
		a := s.do(t, r)
		if before == today() {
			a.want(t, 200, strings.ReplaceAll(want, "<today>", before))
			return
		}
	}
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// inWords writes a query with the names of a version: SIZE, STATUS, FROM and TO
// stand for its parameters.
func (v version) inWords(query string) string {
	return strings.NewReplacer("SIZE", v.size, "STATUS", v.status, "FROM", v.from, "TO", v.to).Replace(query)
}

// wantParams compares the params of a list: page, size, total, status (JSON)
// and the range in force.
func (v version) wantParams(t *testing.T, s *service, query, page, size, total, status, from, to string) response {
	t.Helper()
	for {
		before := today()
		a := s.do(t, get(v.prefix+"/orders?"+v.inWords(query)))
		if before != today() {
			continue
		}
		want := `{"page": ` + page + `, "` + v.size + `": ` + size + `, "` + v.total + `": ` + total + `, "` + v.statusKey + `": ` + status +
			`, "` + v.from + `": "` + from + ` 00:00:00", "` + v.to + `": "` + strings.ReplaceAll(to, "<today>", before) + ` 23:59:59"}`
		wantJSON(t, a.String(), at(t, a.ok(t), "params"), want)
		return a
	}
}

// references returns the references of the orders of a list, in their order.
func (v version) references(t testing.TB, list string) []string {
	t.Helper()
	key := map[string]string{"v1": "order_reference", "v2": "id"}[v.name]
	found := []string{}
	for _, entry := range parse(t, at(t, list, "orders")).([]any) {
		found = append(found, entry.(map[string]any)[key].(string))
	}
	return found
}

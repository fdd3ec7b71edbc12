package lockstep

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/delivery"
	"merchantorders/internal/ingest/ingesttest"
)

// document draws a variant of an order document.
func (s *sequence) document(n int) []byte {
	return document(n, pick(s, "state", "registered", "registered", "registered", "in-processing", "completed"),
		pick(s, "hours left", 48, 3, 1, -1), pick(s, "variant", 0, 0, 1, 2))
}

// document returns a variant of document n, whose order is to be answered within a number of
// hours from the start.
func document(n int, state string, left, variant int) []byte {
	return ingesttest.Document(n, func(d map[string]any) {
		created := apptest.StartOfTime.Add(-time.Duration(n/3) * time.Hour) // some at the same time
		d["merchantId"], d["state"] = merchantOf(n), state
		d["createdAt"], d["expiresAt"] = created.Format(time.RFC3339), apptest.StartOfTime.Add(time.Duration(left)*time.Hour).Format(time.RFC3339)
		d["customer"].(map[string]any)["email"] = fmt.Sprintf("Buyer%d@example.com", n%3)
		switch variant {
		case 1:
			d["notes"] = "άλλο περιεχόμενο"
		case 2:
			delete(d, "orderId")
		}
	})
}

// change draws the members of a change of an order by operators.
func (s *sequence) change() []string {
	state, reason := s.value("state", states), ""
	if state != "" {
		reason = s.value("reason", reasons)
	}
	return []string{
		"state", quoted(state), "reason", quoted(reason),
		"expiresAt", pick(s, "expires", "", "", `"2026-11-20T11:00:00Z"`, `"2026-11-25T11:00:00+02:00"`, "null"),
		"dispatchUntil", pick(s, "dispatch", "", "", `"2026-11-22T11:00:00Z"`, "null"),
		"customer", pick(s, "customer", "", "", `{"phone":"6900000000"}`), "shippingAddress", pick(s, "address", "", "", `{"city":"Πάτρα","postCode":"26221"}`),
	}
}

// byOperator returns a request of an operator, and ofOperator one below /operator.
func (s *sequence) byOperator(method, path, body string) request {
	return s.as(tokenOfOperator, request{method: method, path: path, body: body})
}

func (s *sequence) ofOperator(method, path, body string) request {
	return s.byOperator(method, "/operator"+path, body)
}

// anyMerchant draws the id of a merchant, also of one that may not exist.
func (s *sequence) anyMerchant() string { return pick(s, "merchant", "355", "356", "9", "10") }

// sorted draws orders of changes, in the order in which a transaction makes the changes: how many
// lines it has depends on how fast they are read.
func (s *sequence) sorted(count int, draw func() int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = draw()
	}
	slices.Sort(list)
	return list
}

// stream returns a request with lines. They are about one merchant, because the order of the
// events of several in the feed of all merchants depends on the transactions too.
func (s *sequence) stream(path string, lines []string) request {
	r := s.ofOperator(http.MethodPost, query(path, "results", pick(s, "results", "", "problems")), strings.Join(lines, "\n"))
	r.header = append(r.header, "Content-Type", "application/x-ndjson")
	return r
}

func init() {
	for name, step := range map[string]func(*sequence){
		"add an order": func(s *sequence) {
			s.both(s.write(s.ofOperator(http.MethodPost, "/orders", string(s.document(s.order())))))
		},
		"import": func(s *sequence) {
			var lines []string
			merchant := s.merchant()
			for range pick(s, "lines", 1, 3, 6) {
				lines = append(lines, string(s.document(s.orderOf(merchant))))
			}
			s.both(s.stream("/orders/import", lines))
		},
		"change an order": func(s *sequence) {
			n := s.order()
			path := fmt.Sprintf("/merchants/%d/orders/%s", merchantOf(n), ingesttest.Reference(n))
			if pick(s, "form", "state", "any") == "any" {
				s.both(s.write(s.ofOperator(http.MethodPatch, path, object(s.change()...))))
				return
			}
			s.both(s.write(s.ofOperator(http.MethodPost, path+"/state", object(s.change()...))))
		},
		"change many": func(s *sequence) {
			var lines []string
			merchant := s.merchant()
			for _, n := range s.sorted(pick(s, "lines", 1, 3, 6), func() int { return s.orderOf(merchant) }) {
				lines = append(lines, object(append(s.change(), "merchantId", fmt.Sprint(merchant), "reference", quoted(ingesttest.Reference(n)))...))
			}
			r := s.stream("/orders/transitions", lines)
			s.both(s.keyed(r))
		},
		"search": func(s *sequence) {
			s.both(s.ofOperator(http.MethodGet, query("/orders", "merchantId", pick(s, "merchant", "", "355", "9"), "state", s.value("state", states),
				"q", pick(s, "q", "", "παπαδοπουλου", "Buyer1@example.com", "SF-2026", "2100", "ποντίκι", "αθηνα"), "name", pick(s, "name", "", "", "", "αντ", "Μαρία Π"),
				"email", pick(s, "email", "", "", "", "buyer1@example.com"), "phone", pick(s, "phone", "", "", "", "2100000003"),
				"dateFrom", s.date("from"), "sort", pick(s, "sort", "", "created", "updated", "expires"),
				"limit", s.number("limit")), ""))
		},
		"read": func(s *sequence) {
			s.both(s.ofOperator(http.MethodGet, pick(s, "path", "/overview", "/orders/export", "/overview?limit=1",
				"/orders/"+ingesttest.Reference(s.order()), query("/webhooks", "state", pick(s, "state", "", "failed", "active"))), ""))
		},
		"events": func(s *sequence) {
			s.both(s.ofOperator(http.MethodGet, query("/events", "cursor", pick(s, "at", "", "latest"), "limit", s.number("limit"),
				"types", pick(s, "types", "", "order.created", "order.state_changed,invoice.uploaded"), "include", pick(s, "include", "", "order")), ""))
		},
		"audit": func(s *sequence) {
			s.both(s.ofOperator(http.MethodGet, query("/audit", "merchantId", pick(s, "merchant", "", "0", "355"), "action", pick(s, "action", "", "order.created", "token.created"),
				"orderReference", pick(s, "of", "", ingesttest.Reference(s.order())), "tokenId", s.number("token"),
				"from", s.date("from"), "to", s.date("to"), "limit", s.number("limit")), ""))
		},
		"merchants": func(s *sequence) {
			id := s.anyMerchant()
			switch pick(s, "merchant request", "list", "add", "read", "change", "suspend", "resume", "login link", "revoke tokens") {
			case "list":
				s.both(s.ofOperator(http.MethodGet, query("/merchants", "name", pick(s, "name", "", "store 3", "Νέο"), "suspended", pick(s, "suspended", "", "true", "false"),
					"after", s.number("after"), "limit", s.number("limit")), ""))
			case "add":
				s.both(s.write(s.ofOperator(http.MethodPost, "/merchants", object("id", id, "name", quoted(pick(s, "name", "Νέο", "Store 3", " "))))))
			case "read":
				s.both(s.ofOperator(http.MethodGet, "/merchants/"+id, ""))
			case "change":
				s.both(s.write(s.ofOperator(http.MethodPatch, "/merchants/"+id, object("name", quoted(pick(s, "name", "", "Νέο όνομα")), "timeZone", pick(s, "zone", "", `"Europe/Athens"`, `"Mars"`, "null"),
					"limits", pick(s, "limits", "", "null", `{"requestsPerSecond":500000}`, `{"requestsPerSecond":0}`)))))
			case "suspend":
				s.both(s.write(s.ofOperator(http.MethodPost, "/merchants/"+id+"/suspend", object("reason", quoted(pick(s, "why", "debts", ""))))))
			case "resume":
				s.both(s.write(s.ofOperator(http.MethodPost, "/merchants/"+id+"/resume", "")))
			case "login link":
				s.both(s.write(s.ofOperator(http.MethodPost, "/merchants/"+id+"/login-link", s.person())))
			case "revoke tokens":
				s.both(s.write(s.ofOperator(http.MethodDelete, "/merchants/"+id+"/tokens", "")))
			}
		},
		"tokens": func(s *sequence) {
			s.manageTokens("/operator/tokens", s.byOperator)
		},
		"webhooks": func(s *sequence) {
			s.webhooks("/operator/merchants/"+pick(s, "merchant", "all", "355", "356", "9")+"/webhooks", s.byOperator)
		},
		"customers": func(s *sequence) {
			email := quoted(pick(s, "email", "buyer1@example.com", " BUYER2@example.com", "nobody@example.com"))
			if pick(s, "do", "export", "erase") == "export" {
				s.both(s.ofOperator(http.MethodPost, "/customers/export", object("email", email)))
				return
			}
			body := object("email", email, "files", pick(s, "files", "", "true"))
			if pick(s, "whom", "customer", "order") == "order" {
				n := s.order()
				body = object("merchantId", fmt.Sprint(merchantOf(n)), "orderReference", quoted(ingesttest.Reference(n)), "files", pick(s, "files", "", "true"))
			}
			s.both(s.write(s.ofOperator(http.MethodPost, "/customers/erase", body)))
		},
	} {
		steps["operator: "+name] = step
	}
	steps["again"] = func(s *sequence) {
		if s.last.method == "" {
			s.Skip("nothing was sent")
		}
		s.both(s.last)
	}
	steps["receiver"] = func(s *sequence) {
		at := pick(s, "at", append(urls.good[:3:3], mailAddresses...)...)
		mood := pick(s, "mood", delivery.Result{Status: 200, Response: "ok"}, delivery.Result{Status: 500, Error: delivery.ErrorStatus, Response: "broken"},
			delivery.Result{Status: 410, Error: delivery.ErrorStatus}, delivery.Result{Error: delivery.ErrorTimeout}, delivery.Result{Status: 429, Error: delivery.ErrorStatus, RetryAfter: time.Hour})
		s.note(fmt.Sprintf("%s answers %+v", at, mood))
		for _, side := range s.sides {
			side.moods[at] = mood
		}
	}
	steps["deliver"] = (*sequence).deliver
	steps["time"] = func(s *sequence) {
		passed := pick(s, "passed", time.Second, time.Minute, time.Hour, 25*time.Hour, 40*24*time.Hour)
		s.note(fmt.Sprint(passed, " pass"))
		for _, side := range s.sides {
			side.Pass(passed)
		}
	}
	for name, run := range map[string]func(scope, *side) (int, error){
		"cancel expired": func(t scope, s *side) (int, error) { return s.Orders.CancelExpired(t.Context()) },
		"warn": func(t scope, s *side) (int, error) {
			return s.Orders.WarnOfDeadlines(t.Context(), s.Flags.DeadlineWarning.Value())
		},
		"forget keys": func(t scope, s *side) (int, error) { return s.Orders.DeleteExpiredIdempotencyRecords(t.Context()) },
		"purge files": func(t scope, s *side) (int, error) {
			return s.Orders.PurgeDeletedFiles(t.Context(), s.Now().Add(-time.Hour))
		},
		"forget deliveries": func(t scope, s *side) (int, error) { return s.Webhooks.DeleteOldDeliveries(t.Context()) },
		"retention": func(t scope, s *side) (int, error) {
			return s.Retention.DeleteOldOrders(t.Context(), s.Now().Add(-30*24*time.Hour))
		},
	} {
		steps["job: "+name] = func(s *sequence) {
			s.sameOn(name, func(side *side) string {
				count, err := run(s.scope, side)
				return fmt.Sprint(count, err)
			})
		}
	}
}

// mailAddresses are those that stores may give.
var mailAddresses = []string{"shop@example.com", "staff@example.com"}

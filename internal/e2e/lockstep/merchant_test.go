package lockstep

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
)

// What requests are made of.
var (
	reasons   = values{[]string{"", "damaged", "out-of-stock"}, []string{"no-such-reason"}}
	fileNames = values{[]string{"a.pdf", "a.pdf", "Τιμολόγιο 1+2.png", "scan.JPG", "a/b.pdf", "%41.pdf"}, []string{"a.txt", ".pdf", ""}}
	days      = values{[]string{"", "", "2026-11-20", "2026-11-20T09:00:00Z", "2026-11-21"}, []string{"20-11-2026", "2025-01-01"}}
	urls      = values{[]string{"https://a.example/hook", "https://b.example/hook", "https://b.example/hook?x=1"}, []string{"http://c.example", "nonsense"}}
	types     = values{[]string{"", `["order.created"]`, `["order.state_changed","invoice.uploaded"]`, `["webhook.failed"]`}, []string{`["no.such"]`, "null"}}
	scopes    = values{[]string{`["orders:read"]`, `["orders:read","orders:write"]`, `["orders:read","orders:write","invoices:write","tokens","webhooks"]`, `["tokens"]`}, []string{`["audit"]`, "[]"}}
	overlaps  = values{[]string{"", "0s", "1h", "24h"}, []string{"x"}}
	expiries  = values{[]string{"", "24h", "90d", "2027-01-31"}, []string{"1s", "never"}}
	numbers   = values{[]string{"", "1", "2", "3"}, []string{"0", "1000"}}
	states    = values{bad: []string{"no-state"}}
)

func init() {
	states.good = []string{""}
	for _, state := range order.States() {
		states.good = append(states.good, state.String())
	}
}

// object returns the JSON of members whose value is not empty.
func object(members ...string) string {
	var list []string
	for i := 0; i < len(members); i += 2 {
		if members[i+1] != "" {
			list = append(list, fmt.Sprintf("%q:%s", members[i], members[i+1]))
		}
	}
	return "{" + strings.Join(list, ",") + "}"
}

// quoted returns a text as JSON, and nothing for nothing.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	encoded, err := json.Marshal(text)
	if err != nil {
		panic(err) // texts can always be encoded
	}
	return string(encoded)
}

// query returns a path with the parameters whose value is not empty.
func query(path string, parameters ...string) string {
	values := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		if parameters[i+1] != "" {
			values.Set(parameters[i], parameters[i+1])
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + encode(values)
}

// encode encodes values, but leaves the names of random values as they are.
func encode(values url.Values) string {
	return strings.NewReplacer("%C2%AB", "«", "%C2%BB", "»").Replace(values.Encode())
}

// number draws a small number as a parameter, or none.
func (s *sequence) number(what string) string { return s.value(what, numbers) }

// date draws a day or a time as a parameter, or none.
func (s *sequence) date(what string) string { return s.value(what, days) }

// ofOrder returns a request of the merchant of an order below the order's path in a version.
func (s *sequence) ofOrder(method, v1, v2, body string) request {
	n := s.order()
	path := apptest.Sample(n).V2() + v2
	if v2 == "" || v1 != "" && pick(s, "version", 2, 1) == 1 {
		path = apptest.Sample(n).V1() + v1
	}
	return s.as(tokenOf(merchantOf(n)), request{method: method, path: path, body: body})
}

func (s *sequence) merchant() int64 { return pick(s, "merchant", merchants...) }

// ofMerchant returns a request of a merchant.
func (s *sequence) ofMerchant(method, path, body string) request {
	return s.as(tokenOf(s.merchant()), request{method: method, path: path, body: body})
}

func init() {
	for name, step := range map[string]func(*sequence){
		"read an order": func(s *sequence) {
			n := s.order()
			r := s.as(tokenOf(merchantOf(n)), request{method: pick(s, "method", http.MethodGet, http.MethodHead), path: apptest.Sample(n).Path(pick(s, "version", 1, 0))})
			if len(s.tags) > 0 && pick(s, "condition", false, true) {
				r.header = append(r.header, "If-None-Match", pick(s, "tag", s.tags...))
			}
			s.both(r)
		},
		"accept": func(s *sequence) {
			if pick(s, "version", 2, 1) == 1 {
				n := s.order()
				s.both(s.write(s.as(tokenOf(merchantOf(n)), request{method: http.MethodPut, path: apptest.Sample(n).V1(), body: `{"status":"G"}`})))
				return
			}
			s.both(s.write(s.ofOrder(http.MethodPatch, "", "/accept", "")))
		},
		"reject": func(s *sequence) {
			body := object("status", `"D"`, "reason", quoted(s.value("reason", reasons)))
			if pick(s, "version", 2, 1) == 1 {
				n := s.order()
				s.both(s.write(s.as(tokenOf(merchantOf(n)), request{method: http.MethodPut, path: apptest.Sample(n).V1(), body: body})))
				return
			}
			s.both(s.write(s.ofOrder(http.MethodPatch, "", "/reject", body)))
		},
		"note": func(s *sequence) {
			n := s.order()
			body := object("merchantReference", pick(s, "reference", "", `"R-1"`, `"R-2"`, "null"), "merchantNote", pick(s, "note", "", `"πρόχειρο"`, "null"))
			s.both(s.write(s.as(tokenOf(merchantOf(n)), request{method: http.MethodPatch, path: apptest.Sample(n).V2(), body: body})))
		},
		"upload": (*sequence).upload,
		"delete a file": func(s *sequence) {
			s.both(s.write(s.oneFile()(http.MethodDelete, "", "")))
		},
		"link a file": func(s *sequence) {
			r := s.oneFile()(http.MethodPost, "/link", "")
			if strings.HasPrefix(r.path, "/api") {
				s.Skip("version 1 has no links")
			}
			s.both(s.write(r))
		},
		"open a path": func(s *sequence) {
			if len(s.paths) == 0 {
				s.Skip("none")
			}
			r := s.ofMerchant(http.MethodGet, pick(s, "path", s.paths...), "")
			if pick(s, "range", false, false, true) {
				r.header = append(r.header, "Range", "bytes=2-5")
			}
			s.both(r)
		},
		"list orders": func(s *sequence) {
			path := query("/v2/orders", "state", s.value("state", states), "dateFrom", s.date("from"), "dateTo", s.date("to"),
				"page", s.number("page"), "itemsPerPage", s.number("size"))
			if pick(s, "version", 2, 1) == 1 {
				path = query("/api/orders", "status", pick(s, "status", "", "O", "G", "D", "I", "C", "X"), "date_from", s.date("from"), "date_to", s.date("to"),
					"page", s.number("page"), "items_per_page", s.number("size"))
			}
			r := s.ofMerchant(http.MethodGet, path, "")
			if len(s.tags) > 0 && pick(s, "condition", false, true) {
				r.header = append(r.header, "If-None-Match", pick(s, "tag", s.tags...))
			}
			s.both(r)
		},
		"list unanswered": func(s *sequence) {
			s.both(s.ofMerchant(http.MethodGet, query("/v2/orders/unanswered", "limit", s.number("limit"),
				"expiresBefore", pick(s, "before", "", "2026-11-20T12:00:00Z", "2026-11-21T12:00:00Z")), ""))
		},
		"export": func(s *sequence) {
			s.both(s.ofMerchant(http.MethodGet, query("/v2/orders/export", "state", s.value("state", states), "dateFrom", s.date("from")), ""))
		},
		"events": func(s *sequence) {
			if pick(s, "of", "all", "order") == "order" {
				s.both(s.ofOrder(http.MethodGet, "", query("/events", "after", s.number("after"), "limit", s.number("limit")), ""))
				return
			}
			s.both(s.ofMerchant(http.MethodGet, query("/v2/events", "after", pick(s, "after", "", "1", "5", "latest"), "limit", s.number("limit"),
				"include", pick(s, "include", "", "order")), ""))
		},
		"next page": func(s *sequence) {
			if len(s.next) == 0 {
				s.Skip("none")
			}
			s.both(pick(s, "page", s.next...))
		},
		"answer many": func(s *sequence) {
			var lines []string
			merchant := s.merchant()
			for _, n := range s.sorted(pick(s, "lines", 1, 2, 4), s.order) {
				lines = append(lines, object("orderReference", quoted(apptest.Sample(n).Reference()), "answer", pick(s, "answer", `"accept"`, `"reject"`),
					"reason", quoted(s.value("reason", reasons))))
			}
			r := request{method: http.MethodPost, path: query("/v2/orders/answers", "results", pick(s, "results", "", "problems")), body: strings.Join(lines, "\n")}
			kind := "application/x-ndjson"
			if pick(s, "form", "lines", "array") == "array" {
				kind, r.body = "application/json", "["+strings.Join(lines, ",")+"]"
			}
			r.header = append(r.header, "Content-Type", kind)
			s.both(s.keyed(s.as(tokenOf(merchant), r)))
		},
		"webhooks": func(s *sequence) {
			s.webhooks(merchantWebhooks, s.ofMerchant)
		},
		"tokens": func(s *sequence) {
			s.manageTokens(merchantTokens, s.ofMerchant)
		},
		"login link": func(s *sequence) {
			s.both(s.write(s.ofMerchant(http.MethodPost, "/v2/login-link", s.person())))
		},
	} {
		steps["merchant: "+name] = step
	}
}

// upload uploads a file.
func (s *sequence) upload() {
	content := []byte(pick(s, "content", "%PDF-1.4 one", "%PDF-1.4 two", "", "\x89PNG\r\n\x1a\n"))
	s.both(s.write(s.ofOrder(http.MethodPost, "/invoices", "/invoices", apptest.UploadBody(s.value("name", fileNames), content))))
}

// oneFile draws an invoice file. If there is none, it mostly uploads one first.
func (s *sequence) oneFile() func(method, path, body string) request {
	if len(s.made["invoices"]) == 0 && pick(s, "upload", true, true, true, false) {
		s.upload()
	}
	return s.one("invoices", "", func(method, path, body string) request {
		return s.ofOrder(method, "/invoices"+path, "/invoices"+path, body)
	})
}

// person draws whom a login link is for.
func (s *sequence) person() string {
	return object("name", quoted(pick(s, "name", "", "Άννα", "Bob")), "scopes", s.value("scopes", scopes))
}

// webhooks does something with the webhooks below a path.
func (s *sequence) webhooks(base string, by func(method, path, body string) request) {
	fields := func() []string {
		fields := []string{
			"url", quoted(s.value("url", urls)), "types", s.value("types", types), "include", pick(s, "include", "", `"order"`, "null"),
			"headers", pick(s, "headers", "", `{"X-Shop":"1"}`), "description", quoted(pick(s, "description", "", "ERP")),
		}
		if pick(s, "password", false, true) {
			fields = append(fields, "username", `"erp"`, "password", `"pass word"`)
		}
		return fields
	}
	do := pick(s, "webhook", "add", "list", "read", "deliveries", "change", "remove", "secret", "test", "redeliver", "replay")
	switch do {
	case "add":
		if base == merchantWebhooks {
			s.both(s.write(by(http.MethodPost, base, object(append(fields(), "after", s.number("after"))...))))
		} else {
			s.both(s.write(by(http.MethodPost, base, object(fields()...))))
		}
		return
	case "list":
		s.both(by(http.MethodGet, base, ""))
		return
	}
	one := s.one("webhooks", base, by)
	switch do {
	case "read":
		s.both(one(http.MethodGet, "", ""))
	case "deliveries":
		s.both(one(http.MethodGet, query("/deliveries", "limit", s.number("limit"), "before", s.number("before")), ""))
	case "change":
		s.both(s.write(one(http.MethodPatch, "", object(append(fields(), "enabled", pick(s, "enabled", "", "true", "false"))...))))
	case "remove":
		s.both(s.write(one(http.MethodDelete, "", "")))
	case "secret":
		s.both(s.write(one(http.MethodPost, "/secret", object("overlap", quoted(s.value("overlap", overlaps))))))
	case "test":
		s.both(s.write(one(http.MethodPost, "/test", "")))
	case "redeliver":
		members := []string{"event", pick(s, "event", "1", "2", "3", "7")}
		if strings.Contains(base, "/all/") {
			members = append(members, "merchantId", pick(s, "of", "355", "356"))
		}
		s.both(s.write(one(http.MethodPost, "/redeliver", object(members...))))
	case "replay":
		s.both(s.write(one(http.MethodPost, "/replay", object("after", pick(s, "after", "0", "1", "2", "7")))))
	}
}

const (
	// merchantWebhooks and merchantTokens are the paths of what merchants manage themselves.
	merchantWebhooks = "/v2/webhooks"
	merchantTokens   = "/v2/tokens"
)

// manageTokens does something with the tokens below a path.
func (s *sequence) manageTokens(base string, by func(method, path, body string) request) {
	do := pick(s, "token request", "create", "list", "rotate", "revoke")
	switch do {
	case "create":
		var owner []string
		if base != merchantTokens {
			owner = pick(s, "owner", []string{"merchantId", "355"}, []string{"merchantId", "356"}, []string{"operator", "true"}, []string{"merchantId", "9"})
		}
		s.both(s.write(by(http.MethodPost, base, object(append(owner, "scopes", s.value("scopes", scopes),
			"expires", quoted(s.value("expires", expiries)), "label", quoted(pick(s, "label", "", "ERP", "Άννα")))...))))
		return
	case "list":
		s.both(by(http.MethodGet, query(base, "state", pick(s, "state", "", "active", "expired", "revoked"), "after", s.number("after"), "limit", s.number("limit")), ""))
		return
	}
	one := s.one("tokens", base, by)
	if do == "rotate" {
		s.both(s.write(one(http.MethodPost, "/rotate", object("overlap", quoted(s.value("overlap", overlaps)), "expires", quoted(s.value("expires", expiries))))))
		return
	}
	s.both(s.write(one(http.MethodDelete, query("", "children", pick(s, "children", "", "true")), "")))
}

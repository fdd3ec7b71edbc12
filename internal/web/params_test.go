package web_test

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// TestParams checks which parameters a route does not take, and that a client may prefer to be
// refused because of them.
// Proves decision 3 (unknown parameters).
func TestParams(t *testing.T) {
	t.Parallel()
	tell := func(w http.ResponseWriter, r *web.Request) error {
		query := web.ParseQuery(r)
		return web.WriteJSON(w, http.StatusOK, query.Text(query.First("state|status"))+query.Text("undeclared"))
	}
	readers := web.Merchants(order.ScopeOrdersRead)
	list := web.GetRoute("/list", readers, tell).Takes("page", "state|status")
	server := serve(t, tokens{"x": token.Token{MerchantID: 1, Scopes: order.ScopeOrdersRead}}, web.RouteGroup{
		ChecksParams: true, Errors: web.EncodeCoded, Routes: []web.Route{
			list, web.GetRoute("/one", readers, tell), web.GetRoute("/only", readers, tell).TakesOnly("page"), web.PostRoute("/list", readers, tell),
		},
	}, web.RouteGroup{Prefix: "/page", Errors: web.EncodeCoded, Routes: []web.Route{web.GetRoute("/x", readers, tell)}})
	testenv.Equal(t, "Params", []string{"page", "state|status"}, list.Params())
	long := strings.Repeat("x", 65)
	var many []string
	for i := range 99 {
		many = append(many, "n"+string(rune('0'+i/10))+string(rune('0'+i%10)))
	}
	for _, test := range []struct {
		request, ignored string
		problem          string // of a client that prefers it; empty: none
		detail           string // empty: problem
	}{
		{"GET /list", "", "", ""},
		{"GET /list?state=a&page=1&=", "...", " is not a known parameter; known are page, state", "A name is not a known parameter; known are page, state"},
		{"GET /list?states=a", "states", "states is not a known parameter; the nearest one is state; known are page, state", ""},
		{"GET /list?Status=a&state=", "Status", "Status is not a known parameter; the nearest one is status; known are page, state", ""},
		{"GET /list?undeclared=1&undeclared=2", "undeclared", "undeclared is not a known parameter; known are page, state", ""},
		{"GET /list?status=a&state=b", "status", "status has no effect beside state", ""},
		{"GET /list?status=a&state=", "", "", ""},
		{"GET /list?status=&state=b", "", "", ""},
		{"GET /list?b%5B%5D=secret&a%2C%0A%C3%A9=1", "a%2C%0A%C3%A9, b%5B%5D", "a,\n\u00e9 is not a known parameter; known are page, state", "A name is not a known parameter; known are page, state"},
		{"GET /list?" + long + "=1", long[:61] + "...", long + " is not a known parameter; known are page, state", "A name is not a known parameter; known are page, state"},
		{"GET /list?" + strings.Join(many, "&"), strings.Join(many[:88], ", ") + ", ...", "n00 is not a known parameter; known are page, state", ""},
		{"GET /list?page=%", "", "query is malformed; write % as %25 and ; as %3B", "query is malformed; write % as %25 and ; as %3B, and & as it is, not as &amp;"},
		{"GET /list?mo_secret=1", "%28token%29", "(token) is not a known parameter; known are page, state", "A name is not a known parameter; known are page, state"},
		{"POST /list?page=1", "page", "page is not a known parameter; there are none here", ""},
		{"GET /one?page=1", "page", "page is not a known parameter; there are none here", ""},
		{"GET /page/x?page=1", "", "", ""},
	} {
		for _, prefer := range []string{"", "handling=strict"} {
			got := server.ask(t, test.request, "Authorization: Bearer x", "Prefer: "+prefer)
			name, refused := test.request+" "+prefer, prefer != "" && test.problem != ""
			status, ignored := http.StatusOK, test.ignored
			if refused {
				status, ignored = http.StatusBadRequest, ""
				problem, _, hinted := strings.Cut(test.problem, " parameter;")
				if hinted {
					problem += " parameter"
				}
				testenv.Equal(t, name, problem, read[web.CodedBody](t, got.body).Error.Message)
				testenv.Equal(t, name, cmp.Or(test.detail, test.problem)+".", got.header.Get("Error-Detail"))
			}
			testenv.Equal(t, name, status, got.status)
			testenv.Equal(t, name, ignored, got.header.Get("Ignored-Parameters"))
			testenv.Equal(t, name+": Vary", test.ignored != "", slices.Contains(got.header.Values("Vary"), "Prefer"))
			applied := prefer != "" && !strings.Contains(test.request, "/page/")
			testenv.Equal(t, name, applied, got.header.Get("Preference-Applied") == "handling=strict")
		}
	}
	got := server.ask(t, "GET /only?pages=1", "Authorization: Bearer x")
	testenv.Equal(t, "a route that takes no others", "pages is not a known parameter; the nearest one is page; known are page.", got.header.Get("Error-Detail"))
	testenv.Equal(t, "a route that takes no others", "", got.header.Get("Preference-Applied"))
	got = server.ask(t, "GET /list?states=a", "Prefer: handling=strict")
	testenv.Equal(t, "without a token", 401, got.status)
	testenv.Equal(t, "without a token", "", cmp.Or(got.header.Get("Preference-Applied"), got.header.Get("Ignored-Parameters")))
	for prefer, strict := range map[string]bool{
		"handling=strict": true, "Handling = STRICT": true, `handling="strict"`: true, `handling="str\ict"`: true, "handling=strict;x=y": true,
		"wait=10, handling=strict": true, `a="b, c\", d" ; e , handling=strict`: true, "wait=10\r\nPrefer: respond-async, handling=strict": true,
		",, handling=strict, handling=lenient": true,
		"handling=lenient":                     false, "handling": false, "handling=strictly": false, "strict": false, "x-handling=strict": false,
		"handling=lenient, handling=strict": false, "handling=lenient\r\nPrefer: handling=strict": false, "handling, handling=strict": false,
		`a="b, handling=strict, c"`: false, "a; handling=strict": false, `a=b; c=", handling=strict"`: false, "": false,
	} {
		got := server.ask(t, "GET /one", "Authorization: Bearer x", "Prefer: "+prefer)
		testenv.Equal(t, prefer, strict, got.header.Get("Preference-Applied") == "handling=strict")
	}
}

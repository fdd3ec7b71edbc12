package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// wantAllow sees that a response names the methods of its path, in any order.
func wantAllow(t *testing.T, a response, want string) {
	t.Helper()
	split := func(list string) []string {
		methods := strings.Split(strings.ReplaceAll(list, " ", ""), ",")
		slices.Sort(methods)
		return methods
	}
	if got := a.header.Get("Allow"); !slices.Equal(split(got), split(want)) {
		t.Errorf("%s: Allow is %q, want %q", a, got, want)
	}
}

// readPath is a GET with the token that it needs.
type readPath struct {
	r     request
	allow string // methods of the path
}

// furtherReads are the GETs of operators, and those of merchants that are not about
// orders.
func (s *service) furtherReads(t *testing.T, o placed) []readPath {
	t.Helper()
	manager := s.newToken(t, "tokens", "webhooks")
	return []readPath{
		{get("/operator/orders").by(s.operator), "GET, HEAD, POST"},
		{get("/operator/orders/" + o.reference).by(s.operator), "GET, HEAD"},
		{get("/operator/overview").by(s.operator), "GET, HEAD"},
		{get("/operator/audit").by(s.operator), "GET, HEAD"},
		{get("/operator/merchants").by(s.operator), "GET, HEAD, POST"},
		{get("/operator/tokens").by(s.operator), "GET, HEAD, POST"},
		{get("/v2/tokens").by(manager), "GET, HEAD, POST"},
		{get("/v2/webhooks").by(manager), "GET, HEAD, POST"},
	}
}

// allowedPath is a path with the methods that it serves.
type allowedPath struct {
	v     version // whose form the errors have
	r     request
	allow string
}

// TestMethods sends every method to every path (spec 4): those that are not
// served are 405 with Allow, in the version's form.
// Proves decision 5 (paths, methods; word codes; v2 files, one form), spec 1, spec 4.1,
// spec 4.2.
func TestMethods(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		o := s.addOne(t, document{"state": "completed"})
		paths := []allowedPath{
			{v1, get(v1.list()), "GET, HEAD"},
			{v1, get(v1.order(o)), "GET, HEAD, PUT"},
			{v1, get(v1.invoices(o)), "POST"},
			{v1, get(v1.invoice(o, 1)), "DELETE"},
			{v2, get(v2.list()), "GET, HEAD"},
			{v2, get(v2.order(o)), "GET, HEAD, PATCH"},
			{v2, get("/v2/events"), "GET, HEAD"},
			{v2, get(v2.order(o) + "/events"), "GET, HEAD"},
			{v2, get(v2.order(o) + "/accept"), "PATCH"},
			{v2, get(v2.order(o) + "/reject"), "PATCH"},
			{v2, get(v2.invoices(o)), "POST"},
			{v2, get(v2.invoice(o, 1)), "DELETE"},
			{v2, get(v2.invoice(o, 1) + "/link"), "POST"},
		}
		for _, read := range s.furtherReads(t, o) {
			paths = append(paths, allowedPath{v2, read.r, read.allow})
		}
		methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE", "get"}
		for _, p := range paths {
			for _, method := range methods {
				t.Run(method+" "+p.r.path, func(t *testing.T) {
					allowed := slices.Contains(strings.Split(p.allow, ", "), method)
					for _, slash := range []string{"", "/"} {
						r := p.r
						r.method, r.path = method, r.path+slash
						a := s.do(t, r)
						if (a.status == http.StatusMethodNotAllowed) == allowed {
							t.Fatalf("%s: status %d, allowed are %s", a, a.status, p.allow)
						}
						if !allowed {
							wantAllow(t, a, p.allow)
							if method != http.MethodHead {
								a.wantRefusal(t, p.v, methodNotAllowed, o)
							}
						}
					}
				})
			}
		}
		testenv.Equal(t, "the order's state now", "completed", v2.stateOf(t, s, o))
	})
}

// TestUnknownPaths has paths at which nothing is served: 404 as JSON in the
// form of the version, never a redirect.
// Proves decision 5 (paths, methods; word codes), spec 1.
func TestUnknownPaths(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		inEachVersion(t, func(t *testing.T, v version) {
			other := map[string]string{"v1": v2.id(o), "v2": v1.id(o)}[v.name]
			for _, path := range []string{
				v.prefix, v.prefix + "/", v.prefix + "/order", v.prefix + "/Orders", v.prefix + "/ORDERS", v.prefix + "/orders.json", v.prefix + "/orderss",
				v.prefix + "//", v.prefix + "//order", v.prefix + "/%2Forders", v.prefix + "/./orders", v.prefix + "//../orders", v.prefix + "/x/../orders", v.prefix + "/orders/..",
				v.prefix + "/orders/.", v.order(o) + "//x", v.order(o) + "/x", v.order(o) + "/invoices/1/2",
				v.order(o) + "/invoices/1/..", v.prefix + "/%6frders/x/y/z/0", v.prefix + "/orders/../../etc/passwd",
			} {
				t.Run(path, func(t *testing.T) {
					for _, method := range []string{"GET", "PUT", "DELETE"} {
						s.do(t, request{method: method, path: path}).wantRefusal(t, v, nothingServed, o)
					}
				})
			}
			t.Run("the other version's name", func(t *testing.T) {
				s.do(t, get(v.prefix+"/orders/"+other)).want(t, 404, orderNotFound.in(t, v, other))
			})
		})
		for _, path := range []string{
			"/orders", "/api2/orders", "/v1/orders", "/v3/orders", "/V2/orders", "/API/orders", "/apiorders", "/favicon.ico", "/index.html", "/debug/pprof/",
			"//api/orders", "//v2/orders", "/../api/orders", "/./v2/orders", "/%2e%2e/v2/orders", "/%00", "/%FF", "/etc/passwd", "/api%2Forders", "/v2%2Forders",
		} {
			t.Run(path, func(t *testing.T) {
				for _, method := range []string{"GET", "PUT", "DELETE"} {
					a := s.do(t, request{method: method, path: path})
					if a.status != 404 {
						t.Errorf("%s: status %d: %s", a, a.status, a.short())
					}
				}
			})
		}
	})
}

// TestSlashes sees that a slash at the end and runs of slashes make no difference
// (decision 3; legacy clients send both), at every endpoint.
// Proves decision 5 (paths, methods).
func TestSlashes(t *testing.T) {
	spellings := []func(path string) string{
		func(path string) string { return path + "/" },
		func(path string) string { return "/" + strings.ReplaceAll(path[1:], "/", "//") },
		func(path string) string { return "/" + strings.ReplaceAll(path[1:], "/", "///") + "//" },
	}
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			for _, spelling := range spellings {
				slashed := func(r request) request {
					path, query, found := strings.Cut(r.path, "?")
					r.path = spelling(path)
					if found {
						r.path += "?" + query
					}
					return r
				}
				orders := s.addMany(t, 2)
				wantJSON(t, "the list", s.do(t, slashed(get(v.list(v.size, "5")))).ok(t), s.do(t, get(v.list(v.size, "5"))).ok(t))
				wantJSON(t, "the order", s.do(t, slashed(get(v.order(orders[0])))).ok(t), s.do(t, get(v.order(orders[0]))).ok(t))
				s.do(t, slashed(v.accept(orders[0]))).want(t, 200, v.done())
				s.do(t, slashed(v.reject(orders[1]))).want(t, 200, v.done())
				e := s.stored(t, slashed(v.upload(orders[0], "a.pdf", "a")))
				s.do(t, slashed(remove(v.invoice(orders[0], e.id)))).want(t, 200, `{"message":"success","invoices":[]}`)
			}
		})
	})
}

// TestHead has HEAD as GET without the body: the same status and
// headers, of good responses and of errors.
// Proves decision 5 (paths, methods).
func TestHead(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		missing := placed{number: 1, reference: "missing"}
		for _, read := range s.furtherReads(t, o) {
			s.do(t, read.r).ok(t)
			s.wantHead(t, read.r)
		}
		inEachVersion(t, func(t *testing.T, v version) {
			for _, r := range []request{
				get(v.list()), get(v.order(o)), get(v.order(missing)), get(v.list("page", "x")), get(v.list()).as(noAuth), get(v.prefix + "/nothing"),
			} {
				s.wantHead(t, r)
			}
		})
	})
}

// wantHead sees that HEAD gets what a GET gets, without the body.
func (s *service) wantHead(t *testing.T, r request) {
	t.Helper()
	asked := r
	asked.method = http.MethodHead
	var full, head response
	// Other tests change what operators read: HEAD counts between two equal responses to GET.
	for unchanged := false; !unchanged; unchanged = s.do(t, r).body == full.body {
		full, head = s.do(t, r), s.do(t, asked)
	}
	if head.status != full.status || head.body != "" {
		t.Errorf("%s: status %d and a body of %d bytes, GET has status %d", head, head.status, len(head.body), full.status)
	}
	for name, want := range full.header {
		if name != "Date" && name != "X-Request-Id" && !slices.Equal(head.header[name], want) {
			t.Errorf("%s: %s is %q, GET has %q", head, name, head.header[name], want)
		}
	}
}

// TestOrderIDs has identifiers in paths that name no order (spec 7.1, 7.2,
// decisions 5 and 7): each is an order that is missing, whatever it looks like,
// and its text comes back in the message.
// Proves decision 5 (error-codes, missing order; ids, numbers beyond 64 bits), spec 1,
// spec 9.
func TestOrderIDs(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		known := "Known-" + s.id()
		o := s.addOne(t, document{"reference": known})
		ids := []struct {
			v           version
			path, shown string
		}{
			{v1, "abc", "abc"}, {v1, "%201", " 1"}, {v1, "%FF", "\ufffd"}, {v1, "1%2F2", "1/2"}, {v1, "9223372036854775808", "9223372036854775808"},
			{v1, "0" + v1.id(o), "0" + v1.id(o)}, {v1, "+" + v1.id(o), "+" + v1.id(o)}, {v1, v1.id(o) + "%00", v1.id(o) + "\x00"}, {v1, "%2e%2e", ".."},
			{v2, strings.ToLower(known), strings.ToLower(known)}, {v2, known + "%00", known + "\x00"}, {v2, known + "%20", known + " "}, {v2, "%FF%FE", "\ufffd\ufffd"},
			{v2, "%2e%2e%2f%2e%2e%2fetc", "../../etc"}, {v2, "%27%20OR%201=1--", "' OR 1=1--"}, {v2, "%25", "%"}, {v2, "Know_-" + s.id(), "Know_-" + s.id()},
			{v2, strings.Repeat("x", 65), strings.Repeat("x", 65)}, {v2, "%F0%9F%99%82", "🙂"}, {v2, "a+b", "a+b"}, {v2, "a;b=c", "a;b=c"},
		}
		for _, id := range ids {
			t.Run(id.v.name+" "+id.path, func(t *testing.T) {
				path := id.v.prefix + "/orders/" + id.path
				for _, r := range []request{get(path), put(path, `{"status":"G"}`), put(path, `{"status":"D"}`), patch(path+"/accept", ""), patch(path+"/reject", "")} {
					if id.v.name == "v1" && r.method == "PATCH" || id.v.name == "v2" && r.method == "PUT" {
						continue
					}
					s.do(t, r).want(t, 404, orderNotFound.in(t, id.v, id.shown))
				}
				s.do(t, post(path+"/invoices", `{"filename":"a.pdf","contentBase64":"aGk="}`)).want(t, 404, uploadOrderNotFound.in(t, id.v, id.shown))
				if id.v.name == "v2" {
					s.do(t, post(path+"/invoices/1/link", "")).want(t, 404, `{"message":"The invoice was not found."}`)
				}
			})
		}
		t.Run("an escaped name is the name", func(t *testing.T) {
			s.do(t, get("/v2/orders/%4B"+known[1:])).ok(t)
		})
		t.Run("a very long id is not sent back whole", func(t *testing.T) {
			for _, v := range versions {
				a := s.do(t, get(v.prefix+"/orders/"+strings.Repeat("9", 30_000)))
				if a.status != 404 || len(a.body) > 2_000 {
					t.Errorf("%s: status %d, %d bytes", v.name, a.status, len(a.body))
				}
			}
		})
		testenv.Equal(t, "state after all of them", "registered", v2.stateOf(t, s, o))
	})
}

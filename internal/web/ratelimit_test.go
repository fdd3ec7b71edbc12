package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
	"merchantorders/internal/web/ratelimit"
)

// limited is a router with rate limits.
type limited struct {
	*web.Router
}

func newLimited(perSecond int, verifier web.Authenticator) *limited {
	limits := ratelimit.New(perSecond, 10_000, time.Now)
	return &limited{web.NewRouter(web.RouterConfig{Authenticator: verifier, Limits: limits}, guarded(), web.RouteGroup{Prefix: "/v2", Errors: web.EncodeCoded, Routes: []web.Route{
		web.GetRoute("/read", web.Merchants(order.ScopeOrdersRead), who),
		web.WriteRoute(http.MethodPost, "/upload", web.Merchants(order.ScopeInvoicesWrite), func(r *web.Request) (web.Response, error) {
			<-r.Context().Done()
			return web.Response{}, r.Context().Err()
		}).AsUpload(),
		web.GetRoute("/long-poll", web.Merchants(order.ScopeOrdersRead), func(_ http.ResponseWriter, r *web.Request) error {
			r.Leave()
			<-r.Context().Done()
			return r.Context().Err()
		}),
		web.GetRoute("/wait", web.Merchants(order.ScopeOrdersRead), func(_ http.ResponseWriter, r *web.Request) error {
			<-r.Context().Done()
			return r.Context().Err()
		}),
	}})}
}

// ask sends a request from an address, with a token unless that is empty.
func (l *limited) ask(path, text, from string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr = from
	if text != "" {
		r.Header.Set("Authorization", "Bearer "+text)
	}
	w := httptest.NewRecorder()
	l.ServeHTTP(w, r)
	return w
}

const home = "192.0.2.1:4711"

func twoTokens() tokens {
	return tokens{
		"one": {ID: 1, MerchantID: 355, Scopes: order.DefaultScopes}, "two": {ID: 2, MerchantID: 355, Scopes: order.DefaultScopes},
		"operator": {ID: 3},
	}
}

// limitHeaders returns the rate limit headers of a response.
func limitHeaders(h http.Header) [3]string {
	return [3]string{h.Get("RateLimit-Policy"), h.Get("RateLimit"), h.Get("Retry-After")}
}

// TestTokenLimit uses up the limit of a token: the remaining requests are shown once
// they are less than half. Further requests wait for up to a second, and those
// that would wait longer are refused then; other tokens are not affected.
// Proves decision 5 (request limit).
func TestTokenLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimited(5, twoTokens())
		const policy = `"default";q=10;w=2`
		for n, want := range [][3]string{
			{}, {}, {}, {}, {}, // 9 to 5 remain
			{policy, `"default";r=4;t=2`, ""}, {policy, `"default";r=3;t=2`, ""}, {policy, `"default";r=2;t=2`, ""},
			{policy, `"default";r=1;t=2`, ""}, {policy, `"default";r=0;t=2`, ""},
		} {
			got := l.ask("/read", "one", home)
			if diff := cmp.Diff(want, limitHeaders(got.Header())); got.Code != 200 || diff != "" {
				t.Errorf("request %d: status %d (-want +got):\n%s", n, got.Code, diff)
			}
		}
		start := time.Now()
		for range 5 {
			go func() {
				testenv.Equal(t, fmt.Sprintf("status after %s", time.Since(start)), 200, l.ask("/v2/read", "one", home).Code)
			}()
		}
		synctest.Wait()
		for range 3 {
			go func() {
				refused := l.ask("/v2/read", "one", home)
				const body = `{"error":{"code":"too_many_requests","message":"Too many requests in a short time."}}` + "\n"
				if diff := cmp.Diff(body, refused.Body.String()); refused.Code != 429 || diff != "" || time.Since(start) != time.Second {
					t.Errorf("status %d after %s (-want +got):\n%s", refused.Code, time.Since(start), diff)
				}
				testenv.Equal(t, "headers", [3]string{policy, `"default";r=0;t=1`, "1"}, limitHeaders(refused.Header()))
			}()
		}
		synctest.Wait()
		for _, other := range []string{"two", "operator"} {
			if got := l.ask("/read", other, home); got.Code == 429 || time.Since(start) != 0 {
				t.Errorf("%s is limited", other)
			}
		}
		time.Sleep(time.Hour)
		for n := range 13 {
			start := time.Now()
			if got := l.ask("/read", "one", home); got.Code != 200 || (time.Since(start) == 0) != (n < 10) {
				t.Errorf("an hour later, request %d: status %d after %s", n, got.Code, time.Since(start))
			}
		}
	})
}

// TestTokenInFlight checks how many requests and uploads of a token are in flight
// at most. Those that have left do not count.
// Proves decision 5 (requests in flight).
func TestTokenInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimited(100, twoTokens())
		ctx, disconnect := context.WithCancel(t.Context())
		send := func(method, path, text string) int {
			r := httptest.NewRequestWithContext(ctx, method, path, nil)
			r.Header.Set("Authorization", "Bearer "+text)
			w := httptest.NewRecorder()
			l.ServeHTTP(w, r)
			if w.Code == 429 && (w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), `"too_many_requests"`)) {
				t.Errorf("%s %s: headers %v, body %s", method, path, w.Header(), w.Body)
			}
			return w.Code
		}
		for range 40 {
			go send("GET", "/v2/long-poll", "one")
		}
		synctest.Wait()
		for range 8 {
			go send("POST", "/v2/upload", "one")
		}
		synctest.Wait()
		testenv.Equal(t, "a ninth upload: status", 429, send("POST", "/v2/upload", "one"))
		for range 24 {
			go send("GET", "/v2/wait", "one")
		}
		synctest.Wait()
		for _, path := range []string{"/v2/wait", "/v2/read"} {
			testenv.Equal(t, fmt.Sprintf("a 33rd request, %s: status", path), 429, send("GET", path, "one"))
		}
		testenv.Equal(t, "another token: status", 200, send("GET", "/v2/read", "two"))
		disconnect()
		synctest.Wait()
		ctx = t.Context()
		testenv.Equal(t, "afterwards: status", 200, send("GET", "/v2/read", "one"))
	})
}

// TestBeyondTheShareOfAMerchant has the server say that a merchant has too many requests at
// once: the request is refused, and its body, which never arrives, is not waited for.
func TestBeyondTheShareOfAMerchant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body, send := io.Pipe()
		r := httptest.NewRequest(http.MethodPost, "/v2/upload", body)
		r.Header.Set("Authorization", "Bearer one")
		w, merchantID := httptest.NewRecorder(), int64(0)
		newLimited(0, twoTokens()).ServeHTTP(w, web.OnIdentified(r, func(id int64) bool {
			merchantID = id
			return false
		}))
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || merchantID != 355 {
			t.Errorf("status %d, headers %v, merchant %d", w.Code, w.Header(), merchantID)
		}
		testenv.NoError(t, send.Close())
	})
}

// TestForbiddenRequestsCount checks that a request that the token does not allow
// counts, and that a public one does not.
// Proves decision 5 (request limit).
func TestForbiddenRequestsCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, start := newLimited(1, twoTokens()), time.Now()
		for n := range 4 {
			if got := l.ask("/read", "operator", home); got.Code != 403 || time.Since(start) != time.Duration(max(0, n-1))*time.Second {
				t.Errorf("request %d: status %d after %s", n, got.Code, time.Since(start))
			}
			before := time.Now()
			if got := l.ask("/open", "", home); got.Code != 200 || got.Header().Get("RateLimit") != "" || time.Since(before) != 0 {
				t.Errorf("request %d of what is public: status %d, headers %v", n, got.Code, got.Header())
			}
		}
	})
}

// TestFailedAuthentications checks that an address is limited after 60 failures,
// while a valid token from there and failures at other addresses are not.
// Proves decision 5 (failed sign-ins).
func TestFailedAuthentications(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimited(100, twoTokens())
		for n := range 60 {
			text := []string{"", "bad"}[n%2]
			if got := l.ask("/read", text, fmt.Sprintf("192.0.2.1:%d", 1000+n)); got.Code != 401 {
				t.Fatalf("failure %d: status %d", n, got.Code)
			}
		}
		got := l.ask("/read", "bad", home)
		if diff := cmp.Diff([3]string{`"sign-in";q=60;w=60`, `"sign-in";r=0;t=1`, "1"}, limitHeaders(got.Header())); got.Code != 429 || diff != "" {
			t.Errorf("status %d (-want +got):\n%s", got.Code, diff)
		}
		testenv.Equal(t, "429 with WWW-Authenticate", "", got.Header().Get("WWW-Authenticate"))
		for range 50 {
			if got := l.ask("/read", "one", home); got.Code != 200 || got.Header().Get("RateLimit") != "" {
				t.Fatalf("a good token: status %d, headers %v", got.Code, got.Header())
			}
			l.ask("/read", "bad", home)
		}
		testenv.Equal(t, "another address: status", 401, l.ask("/read", "bad", "192.0.2.2:4711").Code)
		l.ask("/read", "bad", home) // in the place of the one that is allowed after a second
		coded := l.ask("/v2/read", "bad", home)
		const body = `{"error":{"code":"too_many_failed_sign_ins","message":"Too many requests from this address without a valid token."}}` + "\n"
		if diff := cmp.Diff(body, coded.Body.String()); coded.Code != 429 || diff != "" {
			t.Errorf("status %d (-want +got):\n%s", coded.Code, diff)
		}
		for n, want := range []int{401, 429} { // the refusal took a second
			testenv.Equal(t, fmt.Sprintf("a second later, failure %d: status", n), want, l.ask("/read", "bad", home).Code)
		}
	})
}

// TestFailureAddresses checks which addresses share a limit: those of an IPv6
// network, both forms of an IPv4 address, and all that are not addresses.
// Proves decision 5 (failed sign-ins).
func TestFailureAddresses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		failing, other string
		same           bool
	}{
		{"192.0.2.1:1", "[::ffff:192.0.2.1]:2", true},
		{"[2001:db8:0:1::1]:1", "[2001:db8:0:1:ffff::9]:2", true},
		{"[2001:db8:0:1::1]:1", "[2001:db8:0:2::1]:1", false},
		{"[fe80::1%eth0]:1", "[fe80::2%eth1]:1", true},
		{"@", "pipe", true},
		{"192.0.2.1:1", "192.0.2.2:1", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimited(100, twoTokens())
			for range 60 {
				l.ask("/read", "bad", test.failing)
			}
			testenv.Equal(t, fmt.Sprintf("%s after %s: limited", test.other, test.failing), test.same, l.ask("/read", "bad", test.other).Code == 429)
		})
	}
}

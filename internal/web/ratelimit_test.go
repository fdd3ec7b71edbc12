package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/token"
	"merchantorders/internal/web"
	"merchantorders/internal/web/ratelimit"
)

// limited is a router with rate limits and a clock that stands still.
type limited struct {
	*web.Router
	past atomic.Int64 // nanoseconds since the start
}

func newLimited(perSecond int, verifier web.Authenticator) *limited {
	l := &limited{}
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	limits := ratelimit.New(perSecond, func() time.Time { return start.Add(time.Duration(l.past.Load())) })
	l.Router = web.NewRouter(web.RouterConfig{Authenticator: verifier, Limits: limits}, guarded(), web.RouteGroup{Prefix: "/v2", Errors: web.EncodeCoded, Routes: []web.Route{
		web.GetRoute("/read", token.OrdersRead, who),
	}})
	return l
}

func (l *limited) pass(d time.Duration) { l.past.Add(int64(d)) }

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
		"one": {ID: 1, MerchantID: 355, Scopes: token.AllScopes}, "two": {ID: 2, MerchantID: 355, Scopes: token.AllScopes},
		"operator": {ID: 3},
	}
}

// limitHeaders returns the rate limit headers of a response.
func limitHeaders(h http.Header) [3]string {
	return [3]string{h.Get("RateLimit-Policy"), h.Get("RateLimit"), h.Get("Retry-After")}
}

// TestTokenLimit uses up the limit of a token: the remaining requests are shown once
// they are less than half, one more is refused, other tokens are not affected, and
// after a second the requests of a second are allowed again.
func TestTokenLimit(t *testing.T) {
	t.Parallel()
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
	refused := l.ask("/v2/read", "one", home)
	const body = `{"error":{"code":"too_many_requests","message":"Too many requests in a short time."}}` + "\n"
	if diff := cmp.Diff(body, refused.Body.String()); refused.Code != 429 || diff != "" {
		t.Errorf("status %d (-want +got):\n%s", refused.Code, diff)
	}
	if diff := cmp.Diff([3]string{policy, `"default";r=0;t=1`, "1"}, limitHeaders(refused.Header())); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	for _, other := range []string{"two", "operator"} {
		if got := l.ask("/read", other, home); got.Code == 429 {
			t.Errorf("%s is limited", other)
		}
	}
	for _, step := range []struct {
		after time.Duration
		good  int
	}{{199 * time.Millisecond, 0}, {time.Millisecond, 1}, {time.Second, 5}, {time.Hour, 10}} {
		l.pass(step.after)
		good := 0
		for range 20 {
			if l.ask("/read", "one", home).Code == 200 {
				good++
			}
		}
		if good != step.good {
			t.Errorf("%s later %d requests are good, want %d", step.after, good, step.good)
		}
	}
}

// TestForbiddenRequestsCount checks that a request that the token does not allow
// counts, and that a public one does not.
func TestForbiddenRequestsCount(t *testing.T) {
	t.Parallel()
	l := newLimited(1, twoTokens())
	for n, want := range []int{403, 403, 429, 429} {
		if got := l.ask("/read", "operator", home); got.Code != want {
			t.Errorf("request %d: status %d, want %d", n, got.Code, want)
		}
		if got := l.ask("/open", "", home); got.Code != 200 || got.Header().Get("RateLimit") != "" {
			t.Errorf("request %d of what is public: status %d, headers %v", n, got.Code, got.Header())
		}
	}
}

// TestFailedAuthentications checks that an address is limited after 60 failures,
// while a valid token from there and failures at other addresses are not.
func TestFailedAuthentications(t *testing.T) {
	t.Parallel()
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
	if got.Header().Get("WWW-Authenticate") != "" {
		t.Error("429 with WWW-Authenticate")
	}
	for range 50 {
		if got := l.ask("/read", "one", home); got.Code != 200 || got.Header().Get("RateLimit") != "" {
			t.Fatalf("a good token: status %d, headers %v", got.Code, got.Header())
		}
		l.ask("/read", "bad", home)
	}
	if got := l.ask("/read", "bad", "192.0.2.2:4711"); got.Code != 401 {
		t.Errorf("another address: status %d", got.Code)
	}
	l.pass(time.Second)
	for n, want := range []int{401, 429} {
		if got := l.ask("/read", "bad", home); got.Code != want {
			t.Errorf("a second later, failure %d: status %d, want %d", n, got.Code, want)
		}
	}
}

// TestFailureAddresses checks which addresses share a limit: those of an IPv6
// network, both forms of an IPv4 address, and all that are not addresses.
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
		l := newLimited(100, twoTokens())
		for range 60 {
			l.ask("/read", "bad", test.failing)
		}
		if got := l.ask("/read", "bad", test.other).Code == 429; got != test.same {
			t.Errorf("%s after %s: limited is %v", test.other, test.failing, got)
		}
	}
}

func TestNoRateLimits(t *testing.T) {
	t.Parallel()
	l := newLimited(0, twoTokens())
	for range 500 {
		good, bad := l.ask("/read", "one", home), l.ask("/read", "bad", home)
		if good.Code != 200 || bad.Code != 401 || good.Header().Get("RateLimit") != "" {
			t.Fatalf("status %d and %d, headers %v", good.Code, bad.Code, good.Header())
		}
	}
}

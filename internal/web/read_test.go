package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
	"merchantorders/internal/web/respcache"
)

// resources serves resources to merchants and counts the calls of the handlers.
type resources struct {
	*httptest.Server
	events [2]atomic.Int64 // data versions of merchants 1 and 2
	day    atomic.Int64    // of the clock
	read   atomic.Int64    // calls of the handlers
	made   atomic.Int64    // calls of Body
	hold   chan struct{}   // Body waits until it is closed; nil: it does not wait
}

// Authenticate accepts "1" and "2" as the tokens of these merchants.
func (s *resources) Authenticate(_ context.Context, text string, _ netip.Addr) (token.Grant, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return token.Grant{}, token.ErrUnknown
	}
	t := token.Token{ID: id, MerchantID: id, Scopes: order.DefaultScopes}
	return token.Grant{Token: t, DataVersion: order.DataVersion{Event: s.events[id-1].Load()}}, nil
}

func (s *resources) now() time.Time { return time.Unix(s.day.Load()*86400, 0).UTC() }

// list knows its tag before its body; one does not.
func (s *resources) list(r *web.Request) (web.Representation, error) {
	s.read.Add(1)
	if r.URL.Query().Get("wrong") != "" {
		return web.Representation{}, &strict.ParamError{Name: "wrong", Problem: "is there"}
	}
	today := order.DayOf(s.now())
	return web.Representation{
		Tag: fmt.Sprintf("%d-%d", r.DataVersion.Event, today), Day: today, Links: []string{"<first>"},
		Body: func(rep *web.Representation) (any, error) {
			rep.Links = append(rep.Links, "<next>")
			return s.body(r)
		},
	}, nil
}

func (s *resources) one(r *web.Request) (web.Representation, error) {
	s.read.Add(1)
	return web.Representation{Day: order.NoDay, Body: func(rep *web.Representation) (any, error) {
		rep.Tag = fmt.Sprintf("of-%d", r.DataVersion.Event)
		return s.body(r)
	}}, nil
}

func (s *resources) body(r *web.Request) (any, error) {
	s.made.Add(1)
	if s.hold != nil {
		<-s.hold
	}
	if r.URL.Query().Get("fault") != "" {
		return nil, errors.New("fault")
	}
	return map[string]any{"merchant": r.Caller.MerchantID, "event": r.DataVersion.Event, "asked": r.URL.RequestURI()}, nil
}

func serveReadings(t *testing.T, size int) *resources {
	t.Helper()
	s := &resources{}
	s.day.Store(20000)
	config := web.RouterConfig{Authenticator: s, ResponseCache: respcache.New(size, s.now), ViewVersion: "0a1b2c3d"}
	router := web.NewRouter(config, web.RouteGroup{Errors: web.EncodeMessage, Routes: []web.Route{
		web.ReadRoute("/list", web.Merchants(order.ScopeOrdersRead), s.list),
		web.ReadRoute("/one/{name}", web.Merchants(order.ScopeOrdersRead), s.one),
	}})
	s.Server = httptest.NewServer(router)
	t.Cleanup(s.Close)
	return s
}

// get sends a request of a merchant with If-None-Match unless that is empty. It
// returns status, tag and body.
func (s *resources) get(t *testing.T, merchant, path, has string) (int, string, string) {
	t.Helper()
	request := testenv.Of(http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)).Must(t)
	request.Header.Set("Authorization", "Bearer "+merchant)
	if has != "" {
		request.Header.Set("If-None-Match", has)
	}
	response, err := http.DefaultClient.Do(request)
	testenv.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body := testenv.Of(io.ReadAll(response.Body)).Must(t)
	if response.StatusCode == http.StatusOK {
		testenv.Equal(t, "Cache-Control", "private, no-cache", response.Header.Get("Cache-Control"))
		testenv.Equal(t, fmt.Sprintf("Content-Length of %d bytes", len(body)), strconv.Itoa(len(body)), response.Header.Get("Content-Length"))
	}
	return response.StatusCode, response.Header.Get("ETag"), string(body)
}

// TestCachedResponses checks that a cached response is used as long as it is valid,
// for its merchant only.
// Proves decision 5 (no stale response).
func TestCachedResponses(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/list?page=1", "/one/a"} {
		s := serveReadings(t, 1<<20)
		expect := func(when, merchant string, madeWant int64, bodyWant string) {
			t.Helper()
			status, tag, body := s.get(t, merchant, path, "")
			if status != http.StatusOK || tag == "" || s.made.Load() != madeWant || !strings.Contains(body, bodyWant) {
				t.Errorf("%s, %s: status %d, tag %s, %d made, want %d; body %s, want %s", path, when, status, tag, s.made.Load(), madeWant, body, bodyWant)
			}
		}
		expect("first", "1", 1, `"event":0`)
		expect("second request, and cached", "1", 2, `"event":0`)
		expect("cached", "1", 2, `"event":0,"merchant":1`)
		expect("another merchant's", "2", 3, `"merchant":2`)
		s.events[0].Store(1)
		expect("after a change", "1", 4, `"event":1`)
		expect("cached after a change", "1", 4, `"event":1`)
		s.events[1].Store(1)
		expect("after another's change", "1", 4, `"event":1`)
		s.day.Add(1)
		made := int64(4)
		if strings.HasPrefix(path, "/list") {
			made = 5 // the body depends on the day
		}
		expect("the next day", "1", made, `"event":1`)
	}
}

// TestNotModified checks 304 responses, cached or not.
// Proves decision 5 (caching; compression).
func TestNotModified(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/list?page=1", "/one/a"} {
		s := serveReadings(t, 1<<20)
		_, tag, _ := s.get(t, "1", path, "")
		for range 3 {
			compressed := strings.TrimSuffix(tag, `"`) + `-gzip"`
			for has, want := range map[string]string{tag: tag, "W/" + tag: tag, `"other", ` + tag: tag, "*": tag, compressed: compressed, `"other", ` + compressed: compressed} {
				if status, again, body := s.get(t, "1", path, has); status != http.StatusNotModified || again != want || body != "" {
					t.Errorf("%s, has %s: status %d, tag %s, body %q", path, has, status, again, body)
				}
			}
			if status, _, _ := s.get(t, "1", path, `"other"`); status != http.StatusOK {
				t.Errorf("%s, has another: status %d", path, status)
			}
		}
		s.events[0].Store(7)
		if status, again, body := s.get(t, "1", path, tag); status != http.StatusOK || again == tag || !strings.Contains(body, `"event":7`) {
			t.Errorf("%s, after a change: status %d, tag %s, body %s", path, status, again, body)
		}
		_, tag, _ = s.get(t, "1", path, "")
		for _, has := range []string{`no tag`, `"other", no tag`, tag + ` "other"`, `*, "other"`, `"`} {
			if status, _, body := s.get(t, "1", path, has); status != http.StatusOK || body == "" {
				t.Errorf("%s, malformed %s: status %d, want the body", path, has, status)
			}
		}
	}
	s := serveReadings(t, 1<<20)
	_, tag, _ := s.get(t, "1", "/list", "")
	made := s.made.Load()
	if status, _, _ := s.get(t, "1", "/list", tag); status != http.StatusNotModified || s.made.Load() != made {
		t.Errorf("status %d, and %d bodies made for a client that has the list", status, s.made.Load()-made)
	}
}

// TestNotModifiedIsCached checks that 304 responses are cached, and that clients
// without the representation still get its body.
func TestNotModifiedIsCached(t *testing.T) {
	t.Parallel()
	_, tag, whole := serveReadings(t, 1<<20).get(t, "1", "/list", "")
	s := serveReadings(t, 1<<20)
	for range 5 {
		if status, _, body := s.get(t, "1", "/list", tag); status != http.StatusNotModified || body != "" {
			t.Fatalf("status %d, body %q", status, body)
		}
	}
	testenv.Equal(t, "times read, for it is cached at the second request", 2, s.read.Load())
	for range 3 {
		if status, _, body := s.get(t, "1", "/list", ""); status != http.StatusOK || body != whole {
			t.Errorf("status %d, body %q, want %q", status, body, whole)
		}
		s.get(t, "1", "/list", tag)
	}
	testenv.Equal(t, "times read", 3, s.read.Load())
	s.events[0].Store(7)
	if status, _, _ := s.get(t, "1", "/list", tag); status != http.StatusOK {
		t.Errorf("after a change: status %d", status)
	}
}

// Proves decision 5 (no stale response).
func TestErrorsAreNotCached(t *testing.T) {
	t.Parallel()
	s := serveReadings(t, 1<<20)
	for path, want := range map[string]int{"/list?wrong=1": http.StatusBadRequest, "/list?fault=1": http.StatusInternalServerError, "/one/a?fault=1": http.StatusInternalServerError} {
		before := s.read.Load()
		for range 3 {
			if status, tag, _ := s.get(t, "1", path, ""); status != want || tag != "" {
				t.Errorf("%s: status %d, tag %q, want %d", path, status, tag, want)
			}
		}
		testenv.Equal(t, path+": times read", 3, s.read.Load()-before)
	}
}

// TestCacheIsBounded requests more than fits into the cache: what is polled stays,
// and what is requested once evicts nothing.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	s := serveReadings(t, 4<<10)
	for range 2 {
		s.get(t, "1", "/one/polled", "")
	}
	for n := range 50 {
		s.get(t, "1", fmt.Sprintf("/one/once-%d", n), "")
	}
	made := s.made.Load()
	s.get(t, "1", "/one/polled", "")
	testenv.Equal(t, "times what is polled was made", made, s.made.Load())
	for n := range 50 {
		for range 3 {
			s.get(t, "1", fmt.Sprintf("/one/often-%d", n), "")
		}
	}
	made = s.made.Load()
	s.get(t, "1", "/one/polled", "")
	if s.made.Load() == made {
		t.Error("more is cached than fits")
	}
}

// TestCoalescing checks that of many requests for a response that a change has
// invalidated one makes it.
// Proves decision 5 (no stale response).
func TestCoalescing(t *testing.T) {
	t.Parallel()
	s := serveReadings(t, 1<<20)
	for range 2 {
		s.get(t, "1", "/list", "")
	}
	const clients = 12
	s.hold = make(chan struct{})
	s.events[0].Store(1)
	made := s.made.Load()
	var asking sync.WaitGroup
	for range clients {
		asking.Go(func() {
			if status, _, body := s.get(t, "1", "/list", ""); status != http.StatusOK || !strings.Contains(body, `"event":1`) {
				t.Errorf("status %d, body %s", status, body)
			}
		})
	}
	// The leader is making it by now. Requests before it finishes wait, later ones
	// find it in the cache.
	for s.made.Load() == made {
		runtime.Gosched()
	}
	close(s.hold)
	asking.Wait()
	testenv.Equal(t, "times made", 1, s.made.Load()-made)
}

func TestViewVersion(t *testing.T) {
	t.Parallel()
	seen := make(map[string][]string)
	for _, parts := range [][]string{{"1", "2", "a", "b"}, {"1", "2", "a", "c"}, {"1", "3", "a", "b"}, {"1", "2", "ab", ""}, {"12", "a", "b"}, {`1", "2`, "a", "b"}} {
		got := web.ViewVersion(parts...)
		if seen[got] != nil || len(got) != 8 || got != web.ViewVersion(parts...) {
			t.Errorf("%q: %s, as %q", parts, got, seen[got])
		}
		seen[got] = parts
	}
}

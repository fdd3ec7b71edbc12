package e2e

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"merchantorders/internal/testenv"
)

// tooManyRequests is the refusal of a request beyond the limit.
var tooManyRequests = coded(429, "Too many requests.", "too_many_requests", anyText)

// limitedAt asks for something, several times at once, until it is refused for
// being asked too often.
func (s *service) limitedAt(t *testing.T, r request) response {
	t.Helper()
	var refused atomic.Pointer[response]
	var all sync.WaitGroup
	for range 8 { // more than wait at once with a limit of one a second
		all.Go(func() {
			for range 100 {
				a, err := s.trySend(t.Context(), r)
				if err != nil {
					t.Error(err)
				}
				if a.status == 429 {
					refused.Store(&a)
				}
				if err != nil || refused.Load() != nil {
					return
				}
			}
		})
	}
	all.Wait()
	if refused.Load() == nil {
		t.Fatalf("%s %s is never refused", r.method, r.path)
	}
	return *refused.Load()
}

// TestRateLimit asks more often than a server allows: the refusal has the form
// of each part of the service and says when to come back, and only the token
// that has asked so often is refused.
// Proves decision 5 (request limit).
func TestRateLimit(t *testing.T) {
	alone(t, sqlite, func(t *testing.T, s *service) {
		o := placed{number: 1, reference: "none"}
		for _, test := range []struct {
			name string
			v    version // whose form the refusal has
			r    request
		}{
			{"v1", v1, get(v1.list())},
			{"v2", v2, get(v2.list())},
			{"feed", v2, events("")},
			{"v1 accept", v1, v1.accept(o)},
			{"v1 upload", v1, v1.upload(o, "a.pdf", longText)},
			{"v2 delete", v1, remove(v2.invoice(o, 1))}, // flat (decision 5)
			{"storage", v1, get(s.storage + "/invoices/none/a.pdf")},
			{"operator", v2, get("/operator/merchants").by(s.operator)},
		} {
			t.Run(test.name, func(t *testing.T) {
				a := s.limitedAt(t, test.r)
				a.want(t, 429, tooManyRequests.in(t, test.v, ""))
				for name, want := range map[string]string{
					"Retry-After": "1", "RateLimit-Policy": `"default";q=2;w=2`, "RateLimit": `"default";r=0;t=1`,
				} {
					testenv.Equal(t, name, want, a.header.Get(name))
				}
			})
		}
		s.do(t, get(v1.list()).by(s.Folder.Token(t, "--merchant", s.id()))).ok(t)
		s.do(t, get("/healthz").as(noAuth)).ok(t)
	}, "--rate-limit=1")
}

// TestUploadsAtOnce sends ten uploads at once with one token: each waits for its turn and
// gets the published response (spec 4.3, decision 5). Those to one order are three
// successes, and those to as many orders all succeed, on a server that nobody told what to
// allow.
// Proves decision 5 (requests in flight).
func TestUploadsAtOnce(t *testing.T) {
	t.Parallel()
	folder := dataFolder(t)
	s := newService(t, &server{folder.ServeLimited(t), folder.Token(t, "--operator")})
	orders := s.addMany(t, 2+20)
	inEachVersion(t, func(t *testing.T, v version) {
		o := orders[0]
		if v.prefix == v2.prefix {
			o = orders[1]
		}
		requests := make([]request, 10)
		for i := range requests {
			requests[i] = v.upload(o, fmt.Sprintf("%d.pdf", i), "content")
		}
		stored := 0
		for _, a := range s.atOnce(t, requests) {
			if a.status == 200 {
				stored++
				continue
			}
			a.wantRefusal(t, v, tooManyFiles, o)
		}
		testenv.Equal(t, "files stored", 3, stored)
		requests = requests[:0]
		for i, o := range orders[2:] {
			requests = append(requests, v.upload(o, v.prefix[1:]+".pdf", fmt.Sprint(i)))
		}
		for _, a := range s.atOnce(t, requests) {
			a.ok(t)
		}
	})
}

// TestLinkLimit opens links more often than a token may send requests: all links to the
// files of a merchant count together, and its tokens and the links of others apart from them.
// Proves decision 5 (requests in flight), decision 6 (links).
func TestLinkLimit(t *testing.T) {
	alone(t, sqlite, func(t *testing.T, s *service) {
		link := func(s *service) request {
			o := s.addOne(t)
			a := s.do(t, post(v2.invoice(o, s.uploaded(t, v2, o, "a.pdf", longText).id)+"/link", ""))
			return get(s.path(t, textAt(t, a.ok(t), "url"))).as(noAuth)
		}
		other := s.another(t)
		links, theirs := []request{link(s), link(s)}, link(other)
		requests := make([]request, 60)
		for i := range requests {
			requests[i] = links[i%len(links)]
		}
		opened, refused := 0, 0
		for _, a := range s.atOnce(t, requests) {
			switch {
			case a.status == 200:
				opened++
			case a.status == 429 && a.header.Get("Retry-After") == "1" && strings.Contains(a.body, "Too many files of this store"):
				refused++
			default:
				t.Errorf("%s", a)
			}
		}
		if opened < 20 || refused == 0 {
			t.Errorf("%d files were opened, %d refused", opened, refused)
		}
		s.do(t, get(v2.list())).ok(t)
		other.do(t, theirs).ok(t)
	}, "--rate-limit=10")
}

package lockstep

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

var minutes = flag.Int("minutes", testenv.Count(0, 60), "how long TestLockstep runs, each time with other requests; 0: for a few sequences, always the same")

const (
	fewSequences  = 4  // without -minutes
	manySequences = 20 // with one seed
	meanSteps     = 50 // of a sequence
	// shrinkTime is how long a failing sequence is made shorter.
	shrinkTime = 5 * time.Minute
)

// TestLockstep does the same on both services, in random sequences. A sequence that shows
// a difference is made as short as possible before it is reported. -rapid.seed, which the
// report names, runs it again.
func TestLockstep(t *testing.T) {
	testenv.Need(t, "a PostgreSQL server and an S3 server")
	if pgtest.Distributed(t) {
		t.Skip("a cluster has no feed of all merchants")
	}
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	set := func(name string, value any) {
		if !given[name] {
			testenv.NoError(t, flag.Set(name, fmt.Sprint(value)))
		}
	}
	set("rapid.steps", meanSteps)
	set("rapid.shrinktime", shrinkTime)
	set("rapid.nofailfile", true)
	if *minutes == 0 {
		set("rapid.seed", 1)
		set("rapid.checks", fewSequences)
		rapid.Check(t, func(r *rapid.T) { runSequence(t, r) })
		report(t)
		return
	}
	set("rapid.checks", manySequences)
	for end := time.Now().Add(time.Duration(*minutes) * time.Minute); time.Now().Before(end); {
		rapid.Check(t, func(r *rapid.T) { runSequence(t, r) })
	}
	report(t)
}

// done counts what was done, also in sequences that are made shorter.
var done struct {
	sequences, requests, received int
	statuses                      map[string]map[int]int // of responses, by the kind of step
}

func init() { done.statuses = map[string]map[int]int{} }

func report(t *testing.T) {
	t.Logf("%d sequences; %d requests to each service, %d webhooks and e-mails from each; statuses of responses by step:", done.sequences, done.requests, done.received)
	for _, name := range slices.Sorted(maps.Keys(done.statuses)) {
		t.Logf("%s: %v", name, done.statuses[name])
	}
}

// firstFound is for the difference that was found first. rapid forgets what does not come
// again.
var firstFound sync.Once

// sequence is one sequence of requests to two new services.
type sequence struct {
	*rapid.T
	scope    scope
	sides    [2]*side
	step     string // name of the current one
	requests int
	notes    []string // of what was done
	last     request  // to be sent again

	tokens   []string           // names of all tokens that were given out
	tags     []string           // entity tags that were given out
	paths    []string           // of files and links, likewise
	next     []request          // of next pages
	mailed   []string           // paths of links in e-mails
	made     map[string][]thing // webhooks, tokens and files, by kind
	browsers [2]browser
}

// thing is something that a request has made.
type thing struct {
	auth string // header of the request
	path string
}

// The tokens that every sequence begins with.
const (
	tokenOf355      = "«token1»"
	tokenOf356      = "«token2»"
	tokenOfOperator = "«token3»"
)

// merchants are those that every sequence begins with.
var merchants = []int64{355, 356}

func runSequence(t *testing.T, r *rapid.T) {
	s := &sequence{T: r, scope: scope{t, r}}
	atOnce(func(i int) { s.sides[i] = openSide(s.scope, i == 1) })
	for _, side := range s.sides {
		for _, id := range merchants {
			testenv.NoError(s.scope, side.Merchants.Add(t.Context(), order.Command(), id, fmt.Sprint("Store ", id), order.Options[order.Merchant]{}))
			side.names.mask(side.NewToken(id, order.MerchantScopes))
		}
		side.names.mask(side.NewOperatorToken(order.OperatorScopes))
	}
	s.made = map[string][]thing{}
	s.tokens = []string{tokenOf355, tokenOf356, tokenOfOperator}
	actions := map[string]func(*rapid.T){}
	for name, step := range steps {
		actions[name] = func(*rapid.T) {
			s.step = name
			step(s)
		}
	}
	s.step = "beginning"
	s.begin()
	s.Repeat(actions)
	s.step = "comparison at the end"
	s.compareAll()
	done.sequences++
}

// begin adds the orders and two webhooks, or not.
func (s *sequence) begin() {
	if pick(s, "first orders", false, true, true, true) {
		for _, merchant := range merchants {
			var lines []string
			for n := 1; n <= orders; n++ {
				if merchantOf(n) == merchant {
					lines = append(lines, string(document(n, "registered", 48, 0)))
				}
			}
			s.both(with(tokenOfOperator, request{method: http.MethodPost, path: "/operator/orders/import", body: strings.Join(lines, "\n")}))
		}
	}
	if pick(s, "first webhooks", false, true, true, true) {
		s.both(with(tokenOf355, request{method: http.MethodPost, path: merchantWebhooks, body: object("url", quoted(urls.good[0]))}))
		s.both(with(tokenOfOperator, request{method: http.MethodPost, path: "/operator/merchants/all/webhooks", body: object("url", quoted(urls.good[1]))}))
	}
}

// steps are all that a sequence is made of.
var steps = map[string]func(*sequence){}

// pick draws one of several values. Failing sequences are made to have the first ones.
func pick[T any](s *sequence, what string, from ...T) T {
	return rapid.SampledFrom(from).Draw(s.T, what)
}

// orders is how many different orders there can be. A document n is that of one merchant.
const orders = 8

func (s *sequence) order() int { return rapid.IntRange(1, orders).Draw(s.T, "order") }

// values are those of a parameter: good ones, and those that are refused, which are drawn
// rarely.
type values struct{ good, bad []string }

func (s *sequence) value(what string, v values) string {
	if len(v.bad) > 0 && rapid.IntRange(0, 20).Draw(s.T, "fault") == 20 {
		return pick(s, what, v.bad...)
	}
	return pick(s, what, v.good...)
}

// one draws one of the things of a kind that were made through the same interface as those
// below a path. Sometimes, and if there is none, it is one that may not exist.
func (s *sequence) one(kind, base string, by func(method, path, body string) request) func(method, path, body string) request {
	var known []thing
	for _, t := range s.made[kind] {
		if strings.HasPrefix(t.path, "/operator/") == strings.HasPrefix(base, "/operator/") {
			known = append(known, t)
		}
	}
	if len(known) == 0 || rapid.IntRange(0, 8).Draw(s.T, "unknown "+kind) == 8 {
		path := fmt.Sprint(base, "/", rapid.IntRange(1, 6).Draw(s.T, kind))
		return func(method, below, body string) request { return by(method, path+below, body) }
	}
	t := pick(s, kind, known...)
	return func(method, below, body string) request {
		return request{method: method, path: t.path + below, body: body, header: []string{"Authorization", t.auth}}
	}
}

// orderOf draws an order of a merchant.
func (s *sequence) orderOf(merchant int64) int {
	var list []int
	for n := 1; n <= orders; n++ {
		if merchantOf(n) == merchant {
			list = append(list, n)
		}
	}
	return pick(s, "order", list...)
}

// merchantOf returns the merchant of document n.
func merchantOf(n int) int64 { return merchants[n%len(merchants)] }

// tokenOf returns the first token of a merchant.
func tokenOf(merchant int64) string {
	if merchant == merchants[0] {
		return tokenOf355
	}
	return tokenOf356
}

// as lets a request have a token: mostly the given one, sometimes any other.
func (s *sequence) as(token string, r request) request {
	if rapid.IntRange(0, 20).Draw(s.T, "usual token") == 20 {
		token = pick(s, "token", s.tokens...)
	}
	return with(token, r)
}

// with returns a request with a token.
func with(token string, r request) request {
	r.header = append(r.header, "Authorization", "Bearer "+token)
	return r
}

// keyed lets a request have an idempotency key, sometimes one that was used.
func (s *sequence) keyed(r request) request {
	if key := pick(s, "key", "", "", "", "", "", "k1", "k2"); key != "" {
		r.header = append(r.header, "Idempotency-Key", key)
	}
	return r
}

// write lets a request be a write: sometimes with a key, sometimes with a precondition.
func (s *sequence) write(r request) request {
	r = s.keyed(r)
	if len(s.tags) > 0 && rapid.IntRange(0, 10).Draw(s.T, "precondition") == 10 {
		r.header = append(r.header, "If-Match", pick(s, "tag", s.tags[max(0, len(s.tags)-6):]...))
	}
	return r
}

// both sends a request to both services and compares the responses.
func (s *sequence) both(r request) response {
	s.Helper()
	s.requests++
	done.requests++
	s.last = r
	r.header = append(slices.Clone(r.header), "X-Request-Id", fmt.Sprint("request-", s.requests))
	s.note(fmt.Sprintf("request %d: %s", s.requests, r))
	var got [2]response
	var received [2]string
	s.each(func(i int, side *side) {
		if strings.HasPrefix(r.path, "/operator/events") {
			side.settle(s.scope)
		}
		got[i] = side.send(s.scope.Context(), r)
		received[i] = side.takeReceived()
	})
	s.equal("response to "+r.method+" "+r.path, got[0].String(), got[1].String())
	s.equal("sent because of "+r.method+" "+r.path, received[0], received[1])
	s.rememberMails(received[0])
	a := got[0]
	if a.status >= http.StatusInternalServerError {
		s.Logf("both: %s", a)
		s.Fatal("fault of the server")
	}
	if done.statuses[s.step] == nil {
		done.statuses[s.step] = map[int]int{}
	}
	done.statuses[s.step][a.status]++
	s.note(fmt.Sprintf("status %d: %.300s", a.status, a.body))
	s.remember(r, a)
	return a
}

// note logs what is done.
func (s *sequence) note(text string) {
	s.Helper()
	s.Log(text)
	s.notes = append(s.notes, text)
}

// each does something on both services at once.
func (s *sequence) each(do func(i int, side *side)) {
	atOnce(func(i int) { do(i, s.sides[i]) })
}

// atOnce does something for both sides at once. rapid ends a sequence by a panic, which must
// be in its own goroutine.
func atOnce(do func(i int)) {
	var ends [2]any
	var running sync.WaitGroup
	for i := range ends {
		running.Go(func() {
			defer func() { ends[i] = recover() }()
			do(i)
		})
	}
	running.Wait()
	for _, end := range ends {
		if end != nil {
			panic(end)
		}
	}
}

// equal ends the sequence if two texts differ.
func (s *sequence) equal(what, first, second string) {
	s.Helper()
	if first != second {
		text := fmt.Sprintf("%s (-%s +%s):\n%s", what, s.sides[0].name, s.sides[1].name, cmp.Diff(strings.Split(first, "\n"), strings.Split(second, "\n")))
		s.Log(text)
		firstFound.Do(func() { s.scope.TB.Logf("first found after %s\n%s", strings.Join(s.notes, "\n"), text) })
		// rapid takes a failure for the same only if its text is the same.
		s.Fatal("difference")
	}
}

// deliver delivers what is due on both services.
func (s *sequence) deliver() {
	s.rememberMails(s.sameOn("deliver", func(side *side) string { return side.deliver(s.scope) }))
}

// rememberMails keeps the links of e-mails, and counts what was received.
func (s *sequence) rememberMails(received string) {
	done.received += strings.Count(received, "to ")
	for _, found := range mailedForm.FindAllStringSubmatch(received, -1) {
		s.mailed = append(s.mailed, found[1])
	}
}

// sameOn does something on both services, compares what it returns, and returns it.
func (s *sequence) sameOn(what string, do func(*side) string) string {
	s.Helper()
	s.note(what)
	var got [2]string
	s.each(func(i int, side *side) { got[i] = do(side) })
	s.equal(what, got[0], got[1])
	return got[0]
}

var (
	tokenName  = regexp.MustCompile(`"token":"(«token\d+»)"|<code class="secret"[^>]*>(«token\d+»)<`)
	cursorName = regexp.MustCompile(`"next":"(«cursor\d+»)"`)
	pathForm   = regexp.MustCompile(regexp.QuoteMeta(baseURL) + `(/(?:storage|files|console/login)/[^"<\s]+)`)
	mailedForm = regexp.MustCompile(regexp.QuoteMeta(baseURL) + `(/console/mail[^\s]+)`)
	idForm     = regexp.MustCompile(`"id":(\d+)`)
	keptForm   = regexp.MustCompile(`/(webhooks|tokens|invoices)$`)
)

// remember keeps what later requests may use of a response.
func (s *sequence) remember(r request, a response) {
	keep := func(list *[]string, values ...string) {
		for _, value := range values {
			if value != "" && !slices.Contains(*list, value) {
				*list = append(*list, value)
			}
		}
	}
	for _, found := range tokenName.FindAllStringSubmatch(a.body, -1) {
		keep(&s.tokens, found[1:]...)
	}
	for _, found := range pathForm.FindAllStringSubmatch(a.body, -1) {
		keep(&s.paths, found[1])
	}
	keep(&s.tags, a.header.Get("ETag"))
	s.rememberMore(r, a)
}

// rememberMore keeps the next page, and what was made.
func (s *sequence) rememberMore(r request, a response) {
	if found := cursorName.FindStringSubmatch(a.body); found != nil && r.method == http.MethodGet {
		path, parameters, _ := strings.Cut(r.path, "?")
		kept := slices.DeleteFunc(strings.Split(parameters, "&"), func(p string) bool { return p == "" || strings.HasPrefix(p, "cursor=") })
		s.next = append(s.next, request{method: r.method, path: path + "?" + strings.Join(append(kept, "cursor="+found[1]), "&"), header: r.header})
	}
	kind, id := keptForm.FindStringSubmatch(r.path), idForm.FindStringSubmatch(a.body)
	if at := slices.Index(r.header, "Authorization"); kind != nil && id != nil && at >= 0 && r.method == http.MethodPost && a.status/100 == 2 {
		s.made[kind[1]] = append(s.made[kind[1]], thing{r.header[at+1], r.path + "/" + id[1]})
	}
}

// compareAll compares everything that the two services show in the end.
func (s *sequence) compareAll() {
	s.deliver()
	read := func(newToken func(*side) string, paths ...string) {
		// The other tokens may have ended.
		var tokens [2]string
		s.each(func(i int, side *side) { tokens[i] = side.names.mask(newToken(side)) })
		for _, path := range paths {
			s.both(with(tokens[0], request{method: http.MethodGet, path: path}))
		}
	}
	for _, merchant := range merchants {
		read(func(side *side) string { return side.NewToken(merchant, order.MerchantScopes) }, "/v2/events?limit=1000&include=order", "/v2/orders?itemsPerPage=100",
			"/api/orders?items_per_page=100", "/v2/orders/export", "/v2/orders/unanswered", "/v2/tokens", "/v2/webhooks")
	}
	read(func(side *side) string { return side.NewOperatorToken(order.OperatorScopes) }, "/operator/events?limit=1000&include=order", "/operator/audit?limit=1000",
		"/operator/orders?limit=100", "/operator/overview", "/operator/merchants", "/operator/tokens?limit=1000", "/operator/webhooks", "/operator/orders/export")
}
